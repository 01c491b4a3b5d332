import { Outage } from '../outage.ts';

const TRIES_MAX = 15;
const PAUSE_MS = 1_000;

/**
 * Runs work of a process's start, which must not fail because the database has no free connection. The work may run
 * several times. Throws the last {@link Outage} when the dependency stays unavailable.
 */
export async function onceAvailable<T>(
  work: () => Promise<T>,
  sleep: (ms: number) => Promise<void>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Outage) || tries === TRIES_MAX) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

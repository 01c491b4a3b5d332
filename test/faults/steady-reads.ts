/** Repeatable requests, one after another at every service, and their results. */
import type { RestDriver } from '@cardea/testing';
import { repeatWhenBusy } from './repeat-when-busy.ts';

const PATHS = [
  '/api/v1/auth/me',
  '/api/v1/me/sessions',
  '/api/v1/fga/tuples',
  '/api/v1/vault/services',
  '/api/v1/ciba/pending',
  '/api/v1/webhooks',
  '/api/v1/audit/events?limit=10',
];
const PAUSE_MS = 50;
const ANSWER_MS_MAX = 20_000;

export type SteadyReads = {
  count(): number;
  /** The number of requests that were sent again because the response said so. */
  repeats(): number;
  /** What went wrong, a sentence each. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
};

/** Runs one reader per path, until it is stopped. */
export function steadyReads(rest: RestDriver): SteadyReads {
  const failures: string[] = [];
  let count = 0;
  let repeats = 0;
  const repeated = (): void => {
    repeats += 1;
  };
  let running = true;
  const read = async (path: string): Promise<void> => {
    while (running) {
      const get = () => rest.get(path, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
      const told = await repeatWhenBusy(get, repeated).then(
        ({ status, text }) => (status === 200 ? undefined : `${path} ${status} ${text}`),
        (error: Error) => `${path} ${error.message}`,
      );
      count += 1;
      if (told !== undefined) failures.push(told);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const readers = PATHS.map(read);
  return {
    count: () => count,
    repeats: () => repeats,
    failures,
    async stop() {
      running = false;
      await Promise.all(readers);
    },
  };
}

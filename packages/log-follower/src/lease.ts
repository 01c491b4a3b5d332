/** A process that waits for the lease is healthy. Its loop ticks while another process leads. */
import type { Clock, Lease, Leases, LoopWatch } from '@cardea/runtime';

const STANDBY_TICK_MS = 5000;

/** Returns undefined when the signal aborted first. */
export async function becomeActive(
  by: {
    readonly leases: Leases;
    readonly clock: Clock;
    readonly watch: Pick<LoopWatch, 'tick'>;
  },
  name: string,
  stop: AbortSignal,
): Promise<Lease | undefined> {
  const answered = new AbortController();
  const lease = by.leases.hold(name, stop).finally(() => answered.abort());
  while (!answered.signal.aborted) {
    by.watch.tick();
    await by.clock.sleep(STANDBY_TICK_MS, answered.signal);
  }
  return await lease;
}

/** A process that waits for its part is a healthy one: its loop ticks while someone else leads. */
import type { Clock, LoopWatch } from '@cardea/runtime';
import type { LeaderLocks, Lease } from './leader-locks.ts';

const STANDBY_TICK_MS = 5000;

/** Undefined when the signal aborted first. */
export async function becomeActive(
  by: { readonly leader: LeaderLocks; readonly clock: Clock; readonly watch: LoopWatch },
  name: string,
  stop: AbortSignal,
): Promise<Lease | undefined> {
  const answered = new AbortController();
  const asked = by.leader.hold(name, stop).finally(() => answered.abort());
  while (!answered.signal.aborted) {
    by.watch.tick();
    await by.clock.sleep(STANDBY_TICK_MS, answered.signal);
  }
  return await asked;
}

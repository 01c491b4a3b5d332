/** A process that waits for its part is a healthy one: its loop ticks while someone else leads. */
import type { Clock, LoopWatch } from '@cardea/runtime';

const STANDBY_TICK_MS = 5000;

/** The right to follow, until `lost` aborts or it is given back. */
export type Lease = {
  readonly lost: AbortSignal;
  readonly release: () => Promise<void>;
};

/** Who of several processes follows, and what they tell each other. */
export interface Leases {
  /** Waits until this caller alone holds the name; undefined when the signal aborts before. */
  hold(name: string, signal: AbortSignal): Promise<Lease | undefined>;
  /** Called with undefined when notices may have been missed. Answers how to stop. */
  listen(channel: string, listener: (payload: string | undefined) => void): () => void;
}

/** Undefined when the signal aborted first. */
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

/** A process that waits for the lease is healthy: its loop ticks while another process leads. */
import type { Clock, LoopWatch } from '@cardea/runtime';

const STANDBY_TICK_MS = 5000;

/** The right to follow, until `lost` aborts or it is released. */
export type Lease = {
  readonly lost: AbortSignal;
  readonly release: () => Promise<void>;
};

/** Decides which of several processes follows, and delivers their notices. */
export interface Leases {
  /** Waits until only this caller holds the name; undefined when the signal aborts before. */
  hold(name: string, signal: AbortSignal): Promise<Lease | undefined>;
  /** The listener gets undefined when notices may have been missed. Returns the function that ends it. */
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

import type { EventStore, RecordedEvent } from '@cardea/event-store';
import { type FollowedIndex, followedIndex, waiters } from '@cardea/log-follower';
import type { Clock, Logger } from '@cardea/runtime';
import type { Loop } from '@cardea/service';

/** The most requests that may wait at once for the end of the log. */
const WAITERS_MAX = 1_000;
/**
 * The maximum number of tenants whose own writes are tracked. If there are more, the oldest are dropped, long after the
 * index has reached their writes.
 */
const FLOORS_MAX = 10_000;

export type FollowerDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Applies an event. */
  readonly take: (event: RecordedEvent) => void;
  /** Called at the end of the log, before the index counts as fresh. */
  readonly atEnd: () => Promise<void>;
};

/**
 * Keeps this process up to date with the log. It knows its position, its freshness, and up to which position this
 * process has acknowledged writes of each tenant.
 */
export class Follower {
  readonly #clock: Clock;
  readonly #index: FollowedIndex;
  readonly #waitForFresh;
  readonly #floors = new Map<string, bigint>();
  /** The monotonic time at which the end of the log was last reached. */
  #levelAtMs = Number.NEGATIVE_INFINITY;
  readonly #holds = new Set<Promise<void>>();

  constructor({ store, clock, log, take, atEnd }: FollowerDependencies) {
    this.#clock = clock;
    this.#waitForFresh = waiters(clock, WAITERS_MAX);
    this.#index = followedIndex({
      name: 'tuples',
      store,
      clock,
      log,
      start: () => store.head(store.log),
      heldBy: () => (this.#holds.size > 0 ? Promise.all(this.#holds) : undefined),
      take,
      atEnd: async (askedAtMs) => {
        await atEnd();
        this.#levelAtMs = askedAtMs;
        this.#waitForFresh.moved();
      },
    });
  }

  /** All events up to this position were passed on; -1 before the log was first read. */
  get position(): bigint {
    return this.#index.position;
  }

  /** The maximum time for which an answer from the index may have been outdated. */
  get staleMs(): number {
    return this.#clock.monotonicMs() - this.#levelAtMs;
  }

  /** Records that a write was acknowledged to a client of this process. Later reads reflect at least that position. */
  acknowledge(tenantId: string, position: bigint): void {
    const before = this.#floors.get(tenantId) ?? 0n;
    this.#floors.delete(tenantId);
    this.#floors.set(tenantId, position > before ? position : before);
    const [oldest] = this.#floors.keys();
    if (this.#floors.size > FLOORS_MAX && oldest !== undefined) this.#floors.delete(oldest);
  }

  floor(tenantId: string): bigint {
    return this.#floors.get(tenantId) ?? 0n;
  }

  /** Resolves with true if everything up to the position was passed on within the time. */
  reached(position: bigint, timeoutMs: number): Promise<boolean> {
    return this.#index.reached(position, timeoutMs);
  }

  /**
   * Resolves with true if the end of the log was reached within the last `maxMs`, or is reached within the next
   * `timeoutMs`.
   */
  isFresh(maxMs: number, timeoutMs: number): Promise<boolean> {
    return this.#waitForFresh.until(() => this.staleMs <= maxMs, timeoutMs);
  }

  /** Pauses the follower until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#holds.add(promise);
    return () => {
      this.#holds.delete(promise);
      resolve();
    };
  }

  /** Runs until the signal aborts. Starts at the end of the log, or where an earlier run stopped. */
  readonly run: Loop['run'] = (signal, tick, degraded) =>
    this.#index.run(signal, { tick, degraded });
}

import type { EventStore, RecordedEvent } from '@cardea/event-store';
import { type FollowedIndex, followedIndex, waiters } from '@cardea/log-follower';
import type { Clock, Logger } from '@cardea/runtime';
import type { Loop } from '@cardea/service';

/** Requests that wait for a look at the log's end at once. */
const WAITERS_MAX = 1_000;
/** Tenants whose own writes are remembered; past it the oldest are forgotten, long after they were reached. */
const FLOORS_MAX = 10_000;

export type FollowerDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** What is done with an event. */
  readonly take: (event: RecordedEvent) => void;
  /** At the end of the log, before what was seen there counts as fresh. */
  readonly atEnd: () => Promise<void>;
};

/**
 * Keeps this process level with the log: knows how far it has come, how fresh that is, and which of a
 * tenant's positions it has itself acknowledged to a client.
 */
export class Follower {
  readonly #clock: Clock;
  readonly #index: FollowedIndex;
  readonly #waitForFresh;
  readonly #floors = new Map<string, bigint>();
  /** Monotonic time at which the log was last seen to hold nothing more. */
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

  /** All events up to here were handed on; -1 before the first look at the log. */
  get position(): bigint {
    return this.#index.position;
  }

  /** How long ago, at most, an answer from memory would have been the log's last word. */
  get staleMs(): number {
    return this.#clock.monotonicMs() - this.#levelAtMs;
  }

  /** A client of this process has been told of a write; none of its reads is answered from before. */
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

  /** True when everything up to the position was handed on within the time. */
  reached(position: bigint, timeoutMs: number): Promise<boolean> {
    return this.#index.reached(position, timeoutMs);
  }

  /** True when the end of the log was seen within the last `maxMs`, or is within `timeoutMs` from now. */
  isFresh(maxMs: number, timeoutMs: number): Promise<boolean> {
    return this.#waitForFresh.until(() => this.staleMs <= maxMs, timeoutMs);
  }

  /** Nothing is handed on until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#holds.add(promise);
    return () => {
      this.#holds.delete(promise);
      resolve();
    };
  }

  /** Until the signal aborts. Starts at the end of the log, or where an earlier run left off. */
  readonly run: Loop['run'] = (signal, tick, degraded) =>
    this.#index.run(signal, { tick, degraded });
}

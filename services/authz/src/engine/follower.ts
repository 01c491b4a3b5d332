import type { EventStore, RecordedEvent } from '@cardea/event-store';
import type { Clock } from '@cardea/runtime';

const PAGE_EVENTS = 500;
/** The log is looked at this often even when nothing announces an append. */
const BEAT_MS = 1_000;
/** Requests that wait for the follower at once. */
const WAITERS_MAX = 1_000;
/** Tenants whose own writes are remembered; past it the oldest are forgotten, long after they were reached. */
const FLOORS_MAX = 10_000;

/** What is done with the events, in order; must not throw. */
export type Apply = (events: readonly RecordedEvent[]) => void;

export type FollowerNeeds = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly apply: Apply;
  /** Once a beat, before the log is read; a throw ends the run, which its loop starts again. */
  readonly onBeat: () => Promise<void>;
};

type Waiter = { readonly isOver: () => boolean; readonly wake: () => void };

/**
 * Keeps this process level with the log: hands on its events in order and knows how far it has come,
 * how fresh that is, and which of a tenant's positions it has itself acknowledged to a client.
 */
export class Follower {
  readonly #needs: FollowerNeeds;
  readonly #waiters = new Set<Waiter>();
  readonly #floors = new Map<string, bigint>();
  #position = -1n;
  /** Monotonic time at which the log was last seen to hold nothing more. */
  #levelAtMs = Number.NEGATIVE_INFINITY;
  readonly #holds = new Set<Promise<void>>();

  constructor(needs: FollowerNeeds) {
    this.#needs = needs;
  }

  /** All events up to here were handed on; -1 before the first look at the log. */
  get position(): bigint {
    return this.#position;
  }

  /** How long ago, at most, an answer from memory would have been the log's last word. */
  get staleMs(): number {
    return this.#needs.clock.monotonicMs() - this.#levelAtMs;
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
  async reached(position: bigint, timeoutMs: number): Promise<boolean> {
    if (this.#position >= position) return true;
    if (this.#waiters.size >= WAITERS_MAX) return false;
    await this.#wait(() => this.#position >= position, timeoutMs);
    return this.#position >= position;
  }

  /** True when the end of the log was seen within the last `maxMs`, or is within `timeoutMs` from now. */
  async isFresh(maxMs: number, timeoutMs: number): Promise<boolean> {
    if (this.staleMs <= maxMs) return true;
    if (this.#waiters.size >= WAITERS_MAX) return false;
    await this.#wait(() => this.staleMs <= maxMs, timeoutMs);
    return this.staleMs <= maxMs;
  }

  async #wait(isOver: () => boolean, timeoutMs: number): Promise<void> {
    const woken = new AbortController();
    const waiter: Waiter = { isOver, wake: () => woken.abort() };
    this.#waiters.add(waiter);
    await this.#needs.clock.sleep(timeoutMs, woken.signal);
    this.#waiters.delete(waiter);
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
  async run(signal: AbortSignal, tick: () => void): Promise<void> {
    const { store, clock, onBeat } = this.#needs;
    let appended = 0;
    let wake = () => {};
    const unsubscribe = await store.subscribe(store.log, () => {
      appended++;
      wake();
    });
    try {
      while (!signal.aborted) {
        await onBeat();
        const seen = appended;
        await this.#catchUp(signal, tick);
        tick();
        const woken = new AbortController();
        wake = () => woken.abort();
        const stop = () => woken.abort();
        signal.addEventListener('abort', stop, { once: true });
        if (seen === appended && !signal.aborted) await clock.sleep(BEAT_MS, woken.signal);
        signal.removeEventListener('abort', stop);
      }
    } finally {
      await unsubscribe();
    }
  }

  async #catchUp(signal: AbortSignal, tick: () => void): Promise<void> {
    const { store, clock, apply } = this.#needs;
    if (this.#position < 0n) this.#moveTo(await store.head(store.log));
    while (!signal.aborted) {
      const askedAtMs = clock.monotonicMs();
      const events = await store.readLog(store.log, this.#position, PAGE_EVENTS);
      while (this.#holds.size > 0) await Promise.all(this.#holds);
      apply(events);
      const last = events.at(-1);
      if (last !== undefined) this.#moveTo(last.position);
      tick();
      if (events.length === PAGE_EVENTS) continue;
      this.#levelAtMs = askedAtMs;
      this.#wakeWaiters();
      return;
    }
  }

  #moveTo(position: bigint): void {
    this.#position = position;
    this.#wakeWaiters();
  }

  #wakeWaiters(): void {
    for (const waiter of [...this.#waiters]) if (waiter.isOver()) waiter.wake();
  }
}

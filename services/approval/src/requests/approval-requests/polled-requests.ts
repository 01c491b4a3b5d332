/** The requests that polls wait for, in the order in which they are read again. */
import type { Clock } from '@cardea/runtime';
import { POLL_REREAD_MS, POLLED_AT_ONCE_MAX } from '../limits.ts';

export type Polled = { readonly waiters: ReadonlySet<Waiter> };
type Entry = { readonly waiters: Set<Waiter>; dueMs: number };

export class PolledRequests {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** In the order of `dueMs`, because every entry that is added or taken is due after the same time. */
  readonly #byId = new Map<string, Entry>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Returns the function that removes the waiter. */
  add(id: string, waiter: Waiter): () => void {
    const entry = this.#byId.get(id) ?? {
      waiters: new Set(),
      dueMs: this.#clock.monotonicMs() + POLL_REREAD_MS,
    };
    this.#byId.set(id, entry);
    entry.waiters.add(waiter);
    return () => {
      entry.waiters.delete(waiter);
      if (entry.waiters.size === 0) this.#byId.delete(id);
    };
  }

  wake(id: string): void {
    for (const waiter of this.#byId.get(id)?.waiters ?? []) waiter.wake();
  }

  wakeAll(): void {
    for (const id of this.#byId.keys()) this.wake(id);
  }

  makeAllDue(): void {
    for (const entry of this.#byId.values()) entry.dueMs = 0;
  }

  /** Takes the next requests that are due by this time. They are due again after `POLL_REREAD_MS`. */
  takeDue(byMs: number): readonly Polled[] {
    const due: Polled[] = [];
    const againMs = this.#clock.monotonicMs() + POLL_REREAD_MS;
    for (const [id, entry] of this.#byId) {
      if (entry.dueMs > byMs || due.length === POLLED_AT_ONCE_MAX) break;
      due.push(entry);
      this.#byId.delete(id);
      this.#byId.set(id, entry);
      entry.dueMs = againMs;
    }
    return due;
  }
}

/** An open poll. */
export class Waiter {
  /** Reads whether the poll has to answer. */
  readonly isOver: () => Promise<boolean>;
  #isWoken = false;
  #resume: (() => void) | undefined;

  constructor(isOver: Waiter['isOver']) {
    this.isOver = isOver;
  }

  /** Forgets earlier wake-ups. A wake-up after this call ends the next rest. */
  begin(): void {
    this.#isWoken = false;
  }

  wake(): void {
    this.#isWoken = true;
    this.#resume?.();
  }

  /** Resolves after this time, or when it is woken. A wake-up since `begin` ends it at once. */
  async rest(ms: number, clock: Pick<Clock, 'after'>): Promise<void> {
    if (this.#isWoken) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(ms, resolve);
      this.#resume = () => {
        cancel();
        resolve();
      };
    });
    this.#resume = undefined;
  }
}

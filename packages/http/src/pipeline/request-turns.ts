/**
 * The order in which requests begin while several tenants call this process (`docs/design/bounds.md`, C1). All requests
 * share one thread. Without an order, a tenant with fifty requests under way would delay each request of another tenant
 * by all fifty. So few begin in each turn of the event loop, in turns between tenants. Requests that have begun go
 * first, so that a tenant's many requests wait here and not inside. A tenant that is alone never waits.
 */
import { type Clock, SharedUse } from '@cardea/runtime';

/** If turns of the event loop take longer than this, fewer requests begin. */
const TURN_MS_MAX = 1;
const BEGIN_MAX = 16;
/** The most waiting requests. One more begins at once. */
const WAITING_MAX = 10_000;

type Begin = () => void;

export class RequestTurns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #use: SharedUse;
  /** Lines in the order of turns. A tenant whose request has just begun is last. */
  readonly #lines = new Map<string, Begin[]>();
  #waiting = 0;
  #beginsPerTurn = BEGIN_MAX;
  #begun = 0;
  #turnStartMs: number | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#use = new SharedUse(clock);
  }

  /** Returns undefined if the request may begin at once. Otherwise it begins when the promise resolves. */
  wait(caller: string): Promise<void> | undefined {
    if (!this.#use.by(caller) && this.#waiting === 0) return undefined;
    this.#startTurn(this.#clock.monotonicMs());
    if (this.#waiting === 0 && this.#begun < this.#beginsPerTurn) {
      this.#begun += 1;
      return undefined;
    }
    if (this.#waiting >= WAITING_MAX) return undefined;
    this.#waiting += 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    const line = this.#lines.get(caller);
    if (line === undefined) this.#lines.set(caller, [resolve]);
    else line.push(resolve);
    return promise;
  }

  #startTurn(nowMs: number): void {
    if (this.#turnStartMs !== undefined) return;
    this.#turnStartMs = nowMs;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    const nowMs = this.#clock.monotonicMs();
    const isLong = nowMs - (this.#turnStartMs ?? nowMs) > TURN_MS_MAX;
    this.#beginsPerTurn = isLong
      ? Math.max(1, this.#beginsPerTurn >> 1)
      : Math.min(BEGIN_MAX, this.#beginsPerTurn + 1);
    this.#turnStartMs = undefined;
    this.#begun = 0;
    if (this.#waiting === 0) return;
    this.#startTurn(nowMs);
    while (this.#waiting > 0 && this.#begun < this.#beginsPerTurn) this.#beginNext();
  }

  #beginNext(): void {
    for (const [caller, line] of this.#lines) {
      const begin = line.shift();
      this.#lines.delete(caller);
      if (line.length > 0) this.#lines.set(caller, line);
      this.#waiting -= 1;
      this.#begun += 1;
      begin?.();
      return;
    }
  }
}

/**
 * The order in which requests begin while several tenants call this process (`docs/design/bounds.md`, C1). All requests
 * share one thread. Without an order, a tenant with fifty requests under way would delay each step of another tenant's
 * request by all fifty. So few begin in each turn of the event loop, in turns between tenants, and the longer the turns
 * take, the fewer requests a tenant may have under way. Its other requests wait here. A tenant that is alone never
 * waits.
 */
import { type Clock, SharedUse } from '@cardea/runtime';

/** If turns of the event loop take longer than this, fewer requests begin, and fewer are under way. */
const TURN_MS_MAX = 1;
const BEGIN_MAX = 16;
/** Requests that a tenant may have under way at the least, and at the most. */
const UNDER_WAY = { min: 1, max: 64 } as const;
/** After a short turn both numbers grow by this much. Slowly, because a long turn is felt by every tenant. */
const GROWTH = 1 / 8;
/** A request that takes longer mostly waits, as long polls do, and no longer counts as under way. */
const UNDER_WAY_MS_MAX = 100;
/** The most waiting requests. One more begins at once. */
const WAITING_MAX = 10_000;

/** A request that has begun. Who began it ends it. */
export type Begun = { readonly caller: string; readonly sinceMs: number };

type Begin = (begun: Begun) => void;

export class RequestTurns {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly #use: SharedUse;
  /** Lines in the order of turns. A tenant whose request has just begun is last. */
  readonly #lines = new Map<string, Begin[]>();
  /** The oldest is first. */
  readonly #underWay = new Map<string, Set<Begun>>();
  #waiting = 0;
  #beginsPerTurn = BEGIN_MAX;
  #underWayMax: number = UNDER_WAY.max;
  #begun = 0;
  #turnStartMs: number | undefined;
  #isTurnPlanned = false;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'after'>) {
    this.#clock = clock;
    this.#use = new SharedUse(clock);
  }

  /** Returns undefined for a tenant that is alone. The request begins now, or when the promise resolves. */
  begin(caller: string): Begun | Promise<Begun> | undefined {
    if (!this.#use.by(caller) && this.#waiting === 0) return undefined;
    const nowMs = this.#clock.monotonicMs();
    this.#startTurn(nowMs);
    const isNext = this.#waiting === 0 && this.#begun < this.#beginsPerTurn;
    if (this.#waiting >= WAITING_MAX || (isNext && this.#mayBegin(caller, nowMs))) {
      return this.#beginNow(caller, nowMs);
    }
    this.#waiting += 1;
    const { promise, resolve } = Promise.withResolvers<Begun>();
    const line = this.#lines.get(caller);
    if (line === undefined) this.#lines.set(caller, [resolve]);
    else line.push(resolve);
    return promise;
  }

  end(begun: Begun): void {
    const all = this.#underWay.get(begun.caller);
    all?.delete(begun);
    if (all?.size === 0) this.#underWay.delete(begun.caller);
    if (this.#waiting > 0) this.#startTurn(this.#clock.monotonicMs());
  }

  #startTurn(nowMs: number): void {
    if (this.#turnStartMs !== undefined) return;
    this.#turnStartMs = nowMs;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    const nowMs = this.#clock.monotonicMs();
    const isLong = nowMs - (this.#turnStartMs ?? nowMs) > TURN_MS_MAX;
    this.#beginsPerTurn = next(this.#beginsPerTurn, isLong, { min: 1, max: BEGIN_MAX });
    this.#underWayMax = next(this.#underWayMax, isLong, UNDER_WAY);
    this.#turnStartMs = undefined;
    this.#begun = 0;
    if (this.#waiting === 0) return;
    while (this.#begun < this.#beginsPerTurn && this.#beginNext(nowMs));
    if (this.#waiting === 0) return;
    if (this.#begun > 0) this.#startTurn(nowMs);
    else this.#planTurn();
  }

  /** Every tenant that waits has all it may have under way. Where none of it ends, some of it no longer counts. */
  #planTurn(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    this.#clock.after(UNDER_WAY_MS_MAX, () => {
      this.#isTurnPlanned = false;
      this.#startTurn(this.#clock.monotonicMs());
    });
  }

  /** Returns false if no request may begin. */
  #beginNext(nowMs: number): boolean {
    for (const [caller, line] of this.#lines) {
      if (!this.#mayBegin(caller, nowMs)) continue;
      const begin = line.shift();
      this.#lines.delete(caller);
      if (line.length > 0) this.#lines.set(caller, line);
      this.#waiting -= 1;
      begin?.(this.#beginNow(caller, nowMs));
      return true;
    }
    return false;
  }

  #mayBegin(caller: string, nowMs: number): boolean {
    const all = this.#underWay.get(caller);
    if (all === undefined) return true;
    for (const begun of all) {
      if (nowMs - begun.sinceMs < UNDER_WAY_MS_MAX) break;
      all.delete(begun);
    }
    return all.size < this.#underWayMax;
  }

  #beginNow(caller: string, nowMs: number): Begun {
    const begun = { caller, sinceMs: nowMs };
    const all = this.#underWay.get(caller);
    if (all === undefined) this.#underWay.set(caller, new Set([begun]));
    else all.add(begun);
    this.#begun += 1;
    return begun;
  }
}

/** Half as many after a long turn, and a few more after some short ones. */
const next = (
  count: number,
  isLong: boolean,
  { min, max }: { readonly min: number; readonly max: number },
): number => (isLong ? Math.max(min, count / 2) : Math.min(max, count + GROWTH));

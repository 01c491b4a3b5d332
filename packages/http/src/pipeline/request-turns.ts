/**
 * The order in which requests begin while several tenants call this process (`docs/design/bounds.md`, C1). All requests
 * share one thread. Without an order, a tenant with fifty requests under way would delay each step of another tenant's
 * request by all fifty. So a tenant's third request at a time waits in the tenant's line. Few requests begin in each
 * turn of the event loop, in turns between tenants. The busier the thread is, the fewer requests of a line are under
 * way. If its tenant takes more of a busy thread than others do, the line rests after each request, so that the tenant
 * leaves most of the thread's time to the others. A tenant that is alone never waits.
 */
import { type Clock, SharedUse } from '@cardea/runtime';

/** If turns of the event loop take longer than this, fewer requests begin in each. */
const TURN_MS_MAX = 1;
const BEGIN_MAX = 16;
/** A tenant may have this many requests under way without a line, however busy the thread is. */
const WITHOUT_LINE_MAX = 2;
/**
 * The minimum and the maximum number of a line's requests that may be under way. A number below one means rests: at 1/8
 * a line rests for seven times as long as its request occupied the thread.
 */
const UNDER_WAY = { min: 1 / 8, max: 64 } as const;
/** The thread counts as busy if it worked for more than this share of the time between two looks. */
const BUSY_SHARE_MAX = 1 / 2;
const LOOK_MS = 20;
/**
 * After a short turn, or a look at an idle thread, the number grows by this much. The growth is slow, because every
 * tenant feels it.
 */
const GROWTH = 1 / 8;
/** A request that takes longer mostly waits, as long polls do. It no longer counts as under way, and causes no rest. */
const UNDER_WAY_MS_MAX = 100;
/** Rests begin when a line owes this much. A page of a browser sends a few requests at once. */
const REST_CREDIT_MS = 100;
/**
 * A tenant takes more of the thread than others do if it took this many times their average in the last two periods.
 */
const MORE_THAN_OTHERS = 1.25;
const WORK_PERIOD_MS = 1_000;
/** Lines rest only if a request began without a line within this time. */
const CALM_TENANT_MS = 1_000;
/** If the rests of more tenants are stored, those that are over are removed. */
const RESTS_MAX = 1_000;
/** The most waiting requests. One more begins at once. */
const WAITING_MAX = 10_000;

/** A request that has begun. The code that began it has to end it. */
export type Begun = {
  readonly caller: string;
  readonly sinceMs: number;
  /** The thread's work for each request under way, when this one began. */
  readonly sinceWorkMs: number;
};

type Begin = (begun: Begun) => void;

/** The time for which the event loop of this thread worked, counted from an arbitrary moment. */
const loopBusyMs = (): number => performance.eventLoopUtilization().active;

export class RequestTurns {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly #busyMs: () => number;
  readonly #use: SharedUse;
  /**
   * The lines in the order of their turns. A tenant whose request has just begun is last. A line without requests is
   * removed.
   */
  readonly #lines = new Map<string, Begin[]>();
  /** When the rest of a tenant's line ends, or ended. */
  readonly #rests = new Map<string, number>();
  /** The requests of each tenant that are under way, the oldest first. */
  readonly #underWay = new Map<string, Set<Begun>>();
  readonly #work = new RecentWork();
  /** Those that share the work of the thread, of all tenants. The oldest is first. */
  readonly #working = new Set<Begun>();
  /** The thread's work so far, divided at each time by the number of requests that shared it. */
  #workMs = 0;
  #workedMs: number;
  #waiting = 0;
  #beginsPerTurn = BEGIN_MAX;
  #underWayMax: number = UNDER_WAY.max;
  #begun = 0;
  #turnStartMs: number | undefined;
  /** A turn in which a line may continue. */
  #planned: { readonly atMs: number; readonly cancel: () => void } | undefined;
  #lastCalmMs = Number.NEGATIVE_INFINITY;
  #looked: { readonly atMs: number; readonly busyMs: number };

  constructor(clock: Pick<Clock, 'monotonicMs' | 'after'>, busyMs = loopBusyMs) {
    this.#clock = clock;
    this.#busyMs = busyMs;
    this.#use = new SharedUse(clock);
    this.#workedMs = busyMs();
    this.#looked = { atMs: clock.monotonicMs(), busyMs: this.#workedMs };
  }

  /** Returns undefined for a tenant that is alone. The request begins now, or when the promise resolves. */
  begin(caller: string): Begun | Promise<Begun> | undefined {
    if (!this.#isShared(caller)) return undefined;
    const nowMs = this.#clock.monotonicMs();
    this.#startTurn(nowMs);
    if (this.#waiting >= WAITING_MAX) return this.#beginNow(caller, nowMs);
    if (this.#lines.has(caller)) return this.#inLine(caller);
    const count = this.#underWayOf(caller, nowMs);
    if (count === 0) this.#lastCalmMs = nowMs;
    const isFree = this.#begun < this.#beginsPerTurn && count + 1 <= this.#underWayMax;
    return count < WITHOUT_LINE_MAX || isFree
      ? this.#beginNow(caller, nowMs)
      : this.#inLine(caller);
  }

  /**
   * Ends a part of a long request, such as a page of an export. Its next part begins like the next request of a line,
   * so that one long request takes no more of the thread than many short ones.
   */
  next(caller: string, begun: Begun | undefined): Begun | Promise<Begun> | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (begun !== undefined) this.#remove(begun, nowMs);
    if (!this.#isShared(caller)) return undefined;
    this.#startTurn(nowMs);
    if (this.#waiting >= WAITING_MAX) return this.#beginNow(caller, nowMs);
    const begins = this.#inLine(caller);
    if (begun !== undefined) this.#rest(begun, nowMs);
    return begins;
  }

  end(begun: Begun): void {
    const nowMs = this.#clock.monotonicMs();
    this.#remove(begun, nowMs);
    if (this.#waiting === 0) return;
    this.#rest(begun, nowMs);
    this.#startTurn(nowMs);
  }

  #isShared(caller: string): boolean {
    return this.#use.by(caller) || this.#waiting > 0;
  }

  #inLine(caller: string): Promise<Begun> {
    this.#waiting += 1;
    const { promise, resolve } = Promise.withResolvers<Begun>();
    const line = this.#lines.get(caller);
    if (line === undefined) this.#lines.set(caller, [resolve]);
    else line.push(resolve);
    return promise;
  }

  /** The line of the request rests in proportion to the work of the thread for the request. */
  #rest({ caller, sinceMs, sinceWorkMs }: Begun, nowMs: number): void {
    if (!this.#lines.has(caller) || nowMs - sinceMs > UNDER_WAY_MS_MAX) return;
    if (this.#underWayMax >= 1 || nowMs - this.#lastCalmMs > CALM_TENANT_MS) return;
    if (!this.#work.isMoreThanOthers(caller)) return;
    const fromMs = Math.max(this.#restsUntilMs(caller), nowMs - REST_CREDIT_MS);
    if (this.#rests.size > RESTS_MAX) this.#forgetRests(nowMs);
    this.#rests.set(caller, fromMs + (this.#workMs - sinceWorkMs) * (1 / this.#underWayMax - 1));
  }

  /** The number of a tenant's requests that may be under way while others wait in its line. */
  #mostInLine(caller: string): number {
    const min = this.#work.isMoreThanOthers(caller) ? 1 : WITHOUT_LINE_MAX;
    return Math.max(min, this.#underWayMax);
  }

  #restsUntilMs(caller: string): number {
    return this.#rests.get(caller) ?? Number.NEGATIVE_INFINITY;
  }

  #forgetRests(nowMs: number): void {
    for (const [caller, untilMs] of this.#rests) {
      if (untilMs <= nowMs - REST_CREDIT_MS) this.#rests.delete(caller);
    }
  }

  #startTurn(nowMs: number): void {
    if (this.#turnStartMs !== undefined) return;
    this.#turnStartMs = nowMs;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    const nowMs = this.#clock.monotonicMs();
    const isLong = nowMs - (this.#turnStartMs ?? nowMs) > TURN_MS_MAX;
    this.#beginsPerTurn = adjusted(this.#beginsPerTurn, isLong, { min: 1, max: BEGIN_MAX });
    this.#look(nowMs);
    this.#turnStartMs = undefined;
    this.#begun = 0;
    if (this.#waiting === 0) return;
    while (this.#begun < this.#beginsPerTurn && this.#beginNext(nowMs));
    if (this.#waiting === 0) return;
    if (this.#begun > 0) this.#startTurn(nowMs);
    else this.#planTurn(nowMs);
  }

  #look(nowMs: number): void {
    const { atMs, busyMs } = this.#looked;
    if (nowMs - atMs < LOOK_MS) return;
    this.#looked = { atMs: nowMs, busyMs: this.#busyMs() };
    const isBusy = this.#looked.busyMs - busyMs > BUSY_SHARE_MAX * (nowMs - atMs);
    this.#underWayMax = adjusted(this.#underWayMax, isBusy, UNDER_WAY);
  }

  /**
   * Plans the next turn. All lines rest, or have as many requests under way as they may. If none of these requests
   * ends, some no longer count after a while.
   */
  #planTurn(nowMs: number): void {
    let atMs = nowMs + UNDER_WAY_MS_MAX;
    for (const caller of this.#lines.keys()) {
      const restsUntilMs = this.#restsUntilMs(caller);
      if (restsUntilMs > nowMs) atMs = Math.min(atMs, restsUntilMs);
    }
    if (this.#planned !== undefined && this.#planned.atMs <= atMs) return;
    this.#planned?.cancel();
    const cancel = this.#clock.after(atMs - nowMs, () => {
      this.#planned = undefined;
      this.#startTurn(this.#clock.monotonicMs());
    });
    this.#planned = { atMs, cancel };
  }

  /** Returns false if no request of a line may begin. */
  #beginNext(nowMs: number): boolean {
    for (const [caller, line] of this.#lines) {
      if (this.#restsUntilMs(caller) > nowMs) continue;
      if (this.#underWayOf(caller, nowMs) + 1 > this.#mostInLine(caller)) continue;
      const begin = line.shift();
      this.#lines.delete(caller);
      if (line.length > 0) this.#lines.set(caller, line);
      this.#waiting -= 1;
      begin?.(this.#beginNow(caller, nowMs));
      return true;
    }
    return false;
  }

  #underWayOf(caller: string, nowMs: number): number {
    const all = this.#underWay.get(caller);
    if (all === undefined) return 0;
    for (const begun of all) {
      if (nowMs - begun.sinceMs < UNDER_WAY_MS_MAX) break;
      all.delete(begun);
    }
    return all.size;
  }

  #beginNow(caller: string, nowMs: number): Begun {
    this.#shareWork(nowMs);
    this.#work.add(caller, 0, nowMs);
    const begun = { caller, sinceMs: nowMs, sinceWorkMs: this.#workMs };
    this.#working.add(begun);
    const all = this.#underWay.get(caller);
    if (all === undefined) this.#underWay.set(caller, new Set([begun]));
    else all.add(begun);
    this.#begun += 1;
    return begun;
  }

  /** Divides the thread's work since the last call between the requests that shared it. */
  #shareWork(nowMs: number): void {
    const busyMs = this.#busyMs();
    this.#workMs += (busyMs - this.#workedMs) / Math.max(1, this.#working.size);
    this.#workedMs = busyMs;
    for (const begun of this.#working) {
      if (nowMs - begun.sinceMs < UNDER_WAY_MS_MAX) break;
      this.#working.delete(begun);
    }
  }

  #remove(begun: Begun, nowMs: number): void {
    this.#shareWork(nowMs);
    if (this.#working.delete(begun)) {
      this.#work.add(begun.caller, this.#workMs - begun.sinceWorkMs, nowMs);
    }
    const all = this.#underWay.get(begun.caller);
    all?.delete(begun);
    if (all?.size === 0) this.#underWay.delete(begun.caller);
  }
}

/** The thread's work for each tenant, in this period and the one before. */
class RecentWork {
  #work = new Map<string, number>();
  #before = new Map<string, number>();
  #total = 0;
  #totalBefore = 0;
  #sinceMs = 0;

  add(caller: string, workMs: number, nowMs: number): void {
    if (nowMs - this.#sinceMs >= WORK_PERIOD_MS) {
      this.#before = this.#work;
      this.#totalBefore = this.#total;
      this.#work = new Map();
      this.#total = 0;
      this.#sinceMs = nowMs;
    }
    this.#work.set(caller, (this.#work.get(caller) ?? 0) + workMs);
    this.#total += workMs;
  }

  /** Compares the tenant with the average of the others. */
  isMoreThanOthers(caller: string): boolean {
    const others = Math.max(this.#work.size, this.#before.size) - 1;
    const work = (this.#work.get(caller) ?? 0) + (this.#before.get(caller) ?? 0);
    const total = this.#total + this.#totalBefore;
    return work * others > MORE_THAN_OTHERS * (total - work);
  }
}

/** Halves the number after a bad sign, and increases it a little after some good ones. */
const adjusted = (
  count: number,
  isBad: boolean,
  { min, max }: { readonly min: number; readonly max: number },
): number => (isBad ? Math.max(min, count / 2) : Math.min(max, count + GROWTH));

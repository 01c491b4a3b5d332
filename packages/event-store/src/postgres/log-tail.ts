import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log, RecordedEvent } from '../event-store.ts';

/** The newest events of a log that stay in memory; whoever stands further back reads the table. */
const TAIL_EVENTS_MAX = 1000;
/** Batches of this process that wait for what was committed before them; beyond, the table is read. */
const AHEAD_BATCHES_MAX = 16;

export type ReadLog = (log: Log, after: bigint, limit: number) => Promise<readonly RecordedEvent[]>;

export type LogTails = {
  /** Sees whatever was committed before the call, for it never joins a read that had begun by then. */
  readonly read: ReadLog;
  /** Sees what was stored here and what others were heard of; asks the table for no more than that. */
  readonly follow: ReadLog;
  /** This process stored a batch; its events come in order, without a gap. */
  stored(log: Log, events: () => readonly RecordedEvent[]): void;
  /** Another process may have stored something. */
  heard(log: Log): void;
};

/** The ends of the logs, read once for all who follow them: projections, policies, relay. */
export function logTails(readLog: ReadLog): LogTails {
  const tails = new Map<Log, LogTail>();
  const tailOf = (log: Log): LogTail => {
    const tail = tails.get(log) ?? new LogTail((after, limit) => readLog(log, after, limit));
    tails.set(log, tail);
    return tail;
  };
  return {
    read: (log, after, limit) => tailOf(log).read(after, limit),
    follow: (log, after, limit) => tailOf(log).follow(after, limit),
    stored: (log, events) => tailOf(log).stored(events),
    heard: (log) => tailOf(log).heard(),
  };
}

type ReadTable = (after: bigint, limit: number) => Promise<readonly RecordedEvent[]>;

class LogTail {
  readonly #readTable: ReadTable;
  /** All events of the log behind `#from`, up to `#end`. Undefined: no reader was at the end yet. */
  #events: RecordedEvent[] | undefined;
  #from = 0n;
  /** Batches of this process whose forerunners are not known yet. */
  #ahead: (readonly RecordedEvent[])[] = [];
  /** There may be events that were not stored here. */
  #isHeard = true;
  #underWay: Promise<unknown> = Promise.resolve();
  /** Has not begun: whoever comes now may join. */
  #next: Promise<boolean> | undefined;

  constructor(readTable: ReadTable) {
    this.#readTable = readTable;
  }

  async read(after: bigint, limit: number): Promise<readonly RecordedEvent[]> {
    if (this.#events === undefined || after < this.#from) return this.#readAside(after, limit);
    const isWhole = await this.#caughtUp(limit);
    // The tail may have left the reader behind meanwhile.
    if (after < this.#from) return this.#readAside(after, limit);
    const found = this.#behind(after).slice(0, limit);
    return isWhole || found.length === limit ? found : this.#readTable(after, limit);
  }

  async follow(after: bigint, limit: number): Promise<readonly RecordedEvent[]> {
    // Two connections answer in any order: what is missed is often there in a moment.
    if (this.#ahead.length > 0) await nextTurn();
    const isLevel = !this.#isHeard && this.#ahead.length === 0;
    if (!isLevel || after < this.#from) return this.read(after, limit);
    return this.#behind(after).slice(0, limit);
  }

  stored(events: () => readonly RecordedEvent[]): void {
    if (this.#events === undefined) return; // nobody follows the log here
    this.#ahead.push(events());
    this.#joinAhead();
    if (this.#ahead.length <= AHEAD_BATCHES_MAX) return;
    this.#ahead = [];
    this.#isHeard = true;
  }

  heard(): void {
    this.#isHeard = true;
  }

  get #end(): bigint {
    return this.#events?.at(-1)?.position ?? this.#from;
  }

  async #readAside(after: bigint, limit: number): Promise<readonly RecordedEvent[]> {
    const events = await this.#readTable(after, limit);
    if (this.#events === undefined && events.length < limit) {
      this.#events = [];
      this.#from = after;
      this.#keep(events);
    }
    return events;
  }

  /** Answers whether nothing more had been committed than what stands in memory now. */
  #caughtUp(limit: number): Promise<boolean> {
    this.#next ??= this.#readOn(limit);
    return this.#next;
  }

  async #readOn(limit: number): Promise<boolean> {
    await this.#underWay.catch(() => {}); // who asked for that one hears of its failure
    await nextTurn(); // all that were woken by one append join
    this.#next = undefined;
    this.#isHeard = false;
    const reading = this.#readTable(this.#end, limit);
    this.#underWay = reading;
    let isWhole = false;
    try {
      const events = await reading;
      this.#keep(events);
      isWhole = events.length < limit;
    } finally {
      if (!isWhole) this.#isHeard = true;
    }
    return isWhole;
  }

  /** What was read from where the log ended when the reading began; batches may have come since. */
  #keep(events: readonly RecordedEvent[]): void {
    const end = this.#end;
    this.#events?.push(...events.filter(({ position }) => position > end));
    this.#joinAhead();
  }

  /** Batches are answered in any order: each waits until the tail has reached its first event. */
  #joinAhead(): void {
    const known = this.#events;
    if (known === undefined) return;
    const waiting = this.#ahead.toSorted((a, b) => Number(firstOf(a) - firstOf(b)));
    this.#ahead = [];
    for (const batch of waiting) {
      const end = this.#end;
      if (firstOf(batch) > end + 1n) this.#ahead.push(batch);
      else known.push(...batch.filter(({ position }) => position > end));
    }
    const surplus = known.length - TAIL_EVENTS_MAX;
    if (surplus <= 0) return;
    this.#from = known[surplus - 1]?.position ?? this.#from;
    known.splice(0, surplus);
  }

  #behind(after: bigint): readonly RecordedEvent[] {
    const events = this.#events ?? [];
    // Readers stand near the end.
    const last = events.findLastIndex(({ position }) => position <= after);
    return events.slice(last + 1);
  }
}

const firstOf = ([first]: readonly RecordedEvent[]): bigint => first?.position ?? 0n;

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log, RecordedEvent } from '../event-store.ts';

/** The newest events of a log that stay in memory. A reader that is further back reads the table. */
const TAIL_EVENTS_MAX = 1000;
/** This many more events are kept until the oldest are removed together, because each removal moves all others. */
const SURPLUS_EVENTS_MAX = 250;
/** Batches of this process that wait for events committed before them. With more, the table is read. */
const AHEAD_BATCHES_MAX = 16;

export type ReadLog = (log: Log, after: bigint, limit: number) => Promise<readonly RecordedEvent[]>;

/** The newest events of each log, read once for all followers: projections, policies, relay. */
export function logTails(readLog: ReadLog): (log: Log) => LogTail {
  const tails = new Map<Log, LogTail>();
  return (log) => {
    const tail = tails.get(log) ?? new LogTail((after, limit) => readLog(log, after, limit));
    tails.set(log, tail);
    return tail;
  };
}

type ReadTable = (after: bigint, limit: number) => Promise<readonly RecordedEvent[]>;

class LogTail {
  readonly #readTable: ReadTable;
  /** All events of the log after `#from`, up to `#end`. Undefined if no reader was at the end yet. */
  #events: RecordedEvent[] | undefined;
  #from = 0n;
  /** Batches of this process that follow events which are not known yet. */
  #ahead: (readonly RecordedEvent[])[] = [];
  /** Whether there may be events that were not stored here. */
  #isHeard = true;
  #underWay: Promise<unknown> = Promise.resolve();
  /** A read that has not begun, which new callers may join. */
  #next: Promise<boolean> | undefined;

  constructor(readTable: ReadTable) {
    this.#readTable = readTable;
  }

  /** Returns everything that was committed before the call. It never joins a read that began earlier. */
  async read(after: bigint, limit: number): Promise<readonly RecordedEvent[]> {
    if (this.#events === undefined || after < this.#from) return this.#readAside(after, limit);
    const isWhole = await this.#caughtUp(limit);
    // In the meantime the reader's position may have left the events in memory.
    if (after < this.#from) return this.#readAside(after, limit);
    const found = this.#behind(after).slice(0, limit);
    return isWhole || found.length === limit ? found : this.#readTable(after, limit);
  }

  /**
   * Returns the events that this process stored and those that notices announced. It reads the table only for the
   * latter.
   */
  async follow(after: bigint, limit: number): Promise<readonly RecordedEvent[]> {
    // Connections resolve in any order, and missing events often arrive within one turn.
    if (this.#ahead.length > 0) await nextTurn();
    const isLevel = !this.#isHeard && this.#ahead.length === 0;
    if (!isLevel || after < this.#from) return this.read(after, limit);
    return this.#behind(after).slice(0, limit);
  }

  /** Call it when this process stored a batch. Its events are in order, without a gap. */
  stored(events: () => readonly RecordedEvent[]): void {
    if (this.#events === undefined) return; // No follower in this process reads the log.
    this.#ahead.push(events());
    this.#joinAhead();
    if (this.#ahead.length <= AHEAD_BATCHES_MAX) return;
    this.#ahead = [];
    this.#isHeard = true;
  }

  /** Call it when another process may have stored something. */
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

  /** Returns true when memory contains everything that had been committed. */
  #caughtUp(limit: number): Promise<boolean> {
    this.#next ??= this.#readOn(limit);
    return this.#next;
  }

  async #readOn(limit: number): Promise<boolean> {
    await this.#underWay.catch(() => {}); // The caller of that read gets the error.
    await nextTurn(); // Waits a turn, so that all readers woken by one append join.
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

  /** Adds the rows of a read that began at an earlier end of the log. Batches may have been added since. */
  #keep(events: readonly RecordedEvent[]): void {
    const end = this.#end;
    this.#events?.push(...events.filter(({ position }) => position > end));
    this.#joinAhead();
  }

  /** Batches are stored in any order. Each waits until the events before its first one are known. */
  #joinAhead(): void {
    const known = this.#events;
    if (known === undefined) return;
    const waiting = this.#ahead.toSorted((a, b) => Number(firstOf(a) - firstOf(b)));
    this.#ahead = [];
    for (const batch of waiting) {
      const end = this.#end;
      if (firstOf(batch) > end + 1n) {
        this.#ahead.push(batch);
        continue;
      }
      for (const event of batch) if (event.position > end) known.push(event);
    }
    const surplus = known.length - TAIL_EVENTS_MAX;
    if (surplus <= SURPLUS_EVENTS_MAX) return;
    this.#from = known[surplus - 1]?.position ?? this.#from;
    known.splice(0, surplus);
  }

  #behind(after: bigint): readonly RecordedEvent[] {
    const events = this.#events ?? [];
    // Readers are usually near the end.
    let first = events.length;
    while (first > 0 && (events[first - 1] as RecordedEvent).position > after) first -= 1;
    return events.slice(first);
  }
}

const firstOf = ([first]: readonly RecordedEvent[]): bigint => first?.position ?? 0n;

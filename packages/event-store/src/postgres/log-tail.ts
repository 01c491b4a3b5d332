import type { Log, RecordedEvent } from '../event-store.ts';

/** The newest events of a log that stay in memory; whoever stands further back reads the table. */
const TAIL_EVENTS_MAX = 1000;

export type ReadLog = (log: Log, after: bigint, limit: number) => Promise<readonly RecordedEvent[]>;

/**
 * The ends of the logs, read once for all who follow them: projections, policies, relay. A call sees
 * whatever was committed before it, for it never joins a read that had begun by then.
 */
export function logTails(readLog: ReadLog): ReadLog {
  const tails = new Map<Log, LogTail>();
  return (log, after, limit) => {
    const tail = tails.get(log) ?? new LogTail((from, count) => readLog(log, from, count));
    tails.set(log, tail);
    return tail.read(after, limit);
  };
}

type ReadTable = (after: bigint, limit: number) => Promise<readonly RecordedEvent[]>;

class LogTail {
  readonly #readTable: ReadTable;
  /** All events of the log behind `#from`, as far as they were read. Undefined: no reader was at the end yet. */
  #events: RecordedEvent[] | undefined;
  #from = 0n;
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

  async #readAside(after: bigint, limit: number): Promise<readonly RecordedEvent[]> {
    const events = await this.#readTable(after, limit);
    if (this.#events === undefined && events.length < limit) {
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
    await new Promise<void>((resolve) => setImmediate(resolve)); // all that were woken by one append join
    this.#next = undefined;
    const reading = this.#readTable(this.#events?.at(-1)?.position ?? this.#from, limit);
    this.#underWay = reading;
    const events = await reading;
    this.#keep(events);
    return events.length < limit;
  }

  #keep(events: readonly RecordedEvent[]): void {
    this.#events = [...(this.#events ?? []), ...events];
    const surplus = this.#events.length - TAIL_EVENTS_MAX;
    if (surplus <= 0) return;
    this.#from = this.#events[surplus - 1]?.position ?? this.#from;
    this.#events.splice(0, surplus);
  }

  #behind(after: bigint): readonly RecordedEvent[] {
    const events = this.#events ?? [];
    // Readers stand near the end.
    const last = events.findLastIndex(({ position }) => position <= after);
    return events.slice(last + 1);
  }
}

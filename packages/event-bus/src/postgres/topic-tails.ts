/**
 * The records that this process published last. Its own consumers read them here instead of in the table. A consumer
 * that is further back, or whose partition has newer records of other processes, reads the table.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@cardea/runtime';
import { type Lane, laneKey } from '../consuming/consumer-positions.ts';

/** How often a reader reads if none of the published records concern it, or none are urgent. */
export const PATIENT_EVERY_MS = 1000;
const TAIL_MS = 2 * PATIENT_EVERY_MS;
/** How many records of one topic are kept, over all of its partitions. */
const TAIL_RECORDS_MAX = 2048;

/** A record as it was sent, with its offset. */
export type SentRecord = Lane & {
  readonly offset: bigint;
  readonly key: string;
  /** Null for a record without an envelope, which every consumer has to read. */
  readonly type: string | null;
  /**
   * The position in the source's log. Undefined for a record that was sent late, whose position does not belong to its
   * partition.
   */
  readonly position: string | undefined;
  readonly part: number;
  /** Returns the same object to every caller. */
  readonly value: () => unknown;
};

/** Called without records if the table has to be read. */
export type TailListener = (topic: string, records: readonly SentRecord[] | undefined) => void;

export type TopicTails = {
  /**
   * The name of this process in the notices of its publishes. Notices with this name need no read, because the records
   * are known. It changes after each {@link uncertain}, because such a publish may still commit.
   */
  readonly publisher: string;
  /** Call it after the commit. */
  published(topic: string, records: readonly SentRecord[]): void;
  /** Call it when a publish may or may not have been stored. */
  uncertain(topic: string): void;
  /** Calls the listener after each publish of this process. */
  listen(listener: TailListener): () => void;
  /**
   * Returns the records that this process has published to a partition from `next` on. Undefined if the table has to be
   * read.
   */
  after(lane: Lane, next: bigint): readonly SentRecord[] | undefined;
};

type LaneTail = {
  /** The offset of the first record, or the next offset if there is none. */
  from: bigint;
  /** Consecutive records. */
  readonly records: SentRecord[];
};

/** No event type begins with this character. */
const newName = (): string => `@${randomUUID()}`;

export const topicTails = (clock: Pick<Clock, 'monotonicMs'>): TopicTails => {
  const lanes = new Map<string, LaneTail>();
  /** Records by topic, in the order in which they were added. */
  const added = new Map<string, { readonly record: SentRecord; readonly atMs: number }[]>();
  const listeners = new Set<TailListener>();
  let publisher = newName();

  const add = (record: SentRecord): void => {
    const lane = laneKey(record);
    const tail = lanes.get(lane);
    const end = tail === undefined ? undefined : tail.from + BigInt(tail.records.length);
    if (tail === undefined || end === undefined || record.offset > end) {
      lanes.set(lane, { from: record.offset, records: [record] });
    } else if (record.offset === end) tail.records.push(record);
  };
  const forget = (record: SentRecord): void => {
    const tail = lanes.get(laneKey(record));
    if (tail?.records[0] !== record) return;
    tail.records.shift();
    tail.from += 1n;
  };
  const tell: TailListener = (topic, records) => {
    for (const listener of [...listeners]) listener(topic, records);
  };

  return {
    get publisher() {
      return publisher;
    },
    published: (topic, records) => {
      if (records.length === 0) return;
      const nowMs = clock.monotonicMs();
      const all = added.get(topic) ?? [];
      added.set(topic, all);
      for (const record of records) {
        add(record);
        all.push({ record, atMs: nowMs });
      }
      const ended = all.findIndex(({ atMs }) => nowMs - atMs < TAIL_MS);
      const surplus = Math.max(ended, all.length - TAIL_RECORDS_MAX);
      for (const { record } of all.splice(0, surplus)) forget(record);
      tell(topic, records);
    },
    uncertain: (topic) => {
      publisher = newName();
      tell(topic, undefined);
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    after: (lane, next) => {
      const tail = lanes.get(laneKey(lane));
      if (tail === undefined) return [];
      return next < tail.from ? undefined : tail.records.slice(Number(next - tail.from));
    },
  };
};

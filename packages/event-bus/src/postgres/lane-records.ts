/** Reads the next records of partitions from this process's memory if it published them, otherwise from the table. */
import type { Database } from '@cardea/read-models';
import type { Consumer } from '../bus.ts';
import { type Lane, laneKey } from '../consuming/consumer-positions.ts';
import type { TopicNotices } from './topic-notices.ts';
import type { SentRecord, TopicTails } from './topic-tails.ts';

/** The most records that are read from the table at once. */
export const BATCH_RECORDS_MAX = 1000;

/** A record of a handled type, or the last record of a partition, which shows how far was read. */
export type LaneRecord = Lane & {
  readonly offset: string;
  /** The first offset that the partition has, from the requested one on. */
  readonly first: string;
  readonly is_kept: boolean;
  readonly key: string;
  readonly value: unknown;
  readonly position: string | null;
  readonly part: number | null;
};

export type LaneRecords = {
  after(lanes: readonly Lane[], nextOf: (lane: Lane) => bigint): Promise<readonly LaneRecord[]>;
};

const READ = {
  name: 'bus_read_types',
  text: 'SELECT * FROM bus.read($1::text[], $2::smallint[], $3::bigint[], $4::text[], $5)',
};

export const laneRecords = (
  { types }: Pick<Consumer, 'types'>,
  of: {
    readonly bus: Database;
    readonly notices: Pick<TopicNotices, 'unread' | 'readAgain'>;
    readonly tails: Pick<TopicTails, 'after'>;
  },
): LaneRecords => {
  const { bus, notices, tails } = of;
  const inTable = async (lanes: readonly Lane[], nextOf: (lane: Lane) => bigint) => {
    if (lanes.length === 0) return [];
    const { rows } = await bus.system.query<LaneRecord>(READ, [
      lanes.map(({ topic }) => topic),
      lanes.map(({ partition }) => partition),
      lanes.map((lane) => String(nextOf(lane))),
      types ?? null,
      BATCH_RECORDS_MAX,
    ]);
    return rows;
  };
  return {
    after: async (lanes, nextOf) => {
      const unread = new Set(notices.unread());
      const found = lanes.map((lane) => ({ lane, sent: tails.after(lane, nextOf(lane)) }));
      for (const { lane, sent } of found) if (sent === undefined) unread.add(lane.topic);
      const toRead = lanes.filter(({ topic }) => unread.has(topic));
      const rows = await inTable(toRead, nextOf).catch((error: unknown) => {
        notices.readAgain(unread);
        throw error;
      });
      if (countOf(rows) >= BATCH_RECORDS_MAX) notices.readAgain(unread);
      const here = found.filter(({ lane }) => !unread.has(lane.topic));
      return [...rows, ...here.flatMap(({ sent }) => recordsOf(sent ?? [], types))];
    },
  };
};

/** Returns the records in the form of the table's result. */
const recordsOf = (sent: readonly SentRecord[], types: Consumer['types']) => {
  const [first] = sent;
  const last = sent.at(-1);
  if (first === undefined) return [];
  return sent.flatMap((record): readonly LaneRecord[] => {
    const { topic, partition, key, type, position = null, part } = record;
    const isKept = type === null || types === undefined || types.includes(type);
    if (!isKept && record !== last) return [];
    const at = { topic, partition, offset: String(record.offset), first: String(first.offset) };
    return isKept
      ? [{ ...at, is_kept: true, key, value: record.value(), position: null, part: null }]
      : [{ ...at, is_kept: false, key, value: undefined, position, part }];
  });
};

/** How many records were read, including skipped ones. Offsets of a partition have no gaps. */
export const countOf = (records: readonly LaneRecord[]): number => {
  const counts = new Map(
    records.map((record) => [
      laneKey(record),
      Number(BigInt(record.offset) - BigInt(record.first)) + 1,
    ]),
  );
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
};

/** Reads the partitions that this member holds, and applies what it finds, one batch per iteration. */
import type { Turn } from '@cardea/log-follower';
import { type Logger, pacing } from '@cardea/runtime';
import type { Consumer, Subscriber } from '../bus.ts';
import type { ConsumerCore } from '../consuming/consumer-core.ts';
import { type Lane, laneKey } from '../consuming/consumer-positions.ts';
import type { Looked, RawRecord, SkippedRecord } from '../consuming/records.ts';
import { lapsedReason } from '../partition-ends.ts';
import { BATCH_RECORDS_MAX, countOf, type LaneRecord, type LaneRecords } from './lane-records.ts';
import type { Membership } from './members.ts';
import type { TopicNotices } from './topic-notices.ts';

type Reading = {
  readonly consumer: Consumer;
  readonly clock: Parameters<typeof pacing>[0];
  readonly log: Logger;
  readonly members: Membership;
  readonly notices: TopicNotices;
  readonly laneRecords: LaneRecords;
  readonly core: ConsumerCore;
  readonly ends: Subscriber['ends'];
  readonly signal: AbortSignal;
  readonly tick: () => void;
};

export type TopicReader = {
  readonly turn: () => Promise<Turn>;
};

export const topicReader = (reading: Reading): TopicReader => {
  const { consumer, members, core, notices, laneRecords } = reading;
  const pace = pacing(reading.clock);
  let ours: ReadonlySet<number> = new Set();
  /** The next offset of each lane that this member reads. Empty if it has to be loaded. */
  let next = new Map<string, bigint>();
  let lanes: Lane[] = [];
  const lapsed = new Map<string, Lane>();
  /** Whether one batch did not contain all waiting records. The rest is then read without a pause. */
  let isFull = false;

  const takeUp = async (): Promise<void> => {
    const held = members.partitions();
    if (held !== ours) {
      await core.settle();
      next = new Map();
      ours = held;
    }
    if (next.size > 0 || ours.size === 0) return;
    const applied = await core.offsets();
    lanes = consumer.topics.flatMap((topic) =>
      [...ours].map((partition) => ({ topic, partition })),
    );
    next = new Map(
      lanes.map((lane) => [laneKey(lane), (applied.get(laneKey(lane))?.offset ?? -1n) + 1n]),
    );
    notices.readAgain(consumer.topics);
  };
  const read = async (): Promise<readonly LaneRecord[]> => {
    if (ours.size === 0) return [];
    const open = lanes.filter((lane) => !lapsed.has(laneKey(lane)));
    const rows = await laneRecords.after(open, (lane) => next.get(laneKey(lane)) ?? 0n);
    // The query fills a batch lane by lane: rotating the list gives each lane its turn to be first.
    lanes.push(...lanes.splice(0, Math.ceil(lanes.length / 3)));
    return rows;
  };
  /**
   * A lane that was read before must continue without a gap. Otherwise its next records were deleted before they were
   * read.
   */
  const withoutLapsed = (rows: readonly LaneRecord[]): readonly LaneRecord[] => {
    const gone = rows.filter((row) => isAfterGap(row, next.get(laneKey(row)) ?? 0n));
    if (gone.length === 0) return rows;
    for (const row of gone) lapsed.set(laneKey(row), row);
    tellLapsed(reading, [...lapsed.keys()]);
    return rows.filter((row) => !lapsed.has(laneKey(row)));
  };
  /** Resumes lanes whose lost records were published again. */
  const resumeLapsed = async (): Promise<void> => {
    if (lapsed.size === 0) return;
    for (const end of await reading.ends(topicsOf(lapsed.values()))) {
      const start = lapsed.has(laneKey(end)) ? await core.resume(end) : undefined;
      if (start === undefined) continue;
      lapsed.delete(laneKey(end));
      next.set(laneKey(end), start);
      notices.readAgain(consumer.topics);
    }
  };
  const apply = async (rows: readonly LaneRecord[]): Promise<void> => {
    try {
      await core.apply(lookedOf(rows), reading.tick);
    } catch (error) {
      next = new Map(); // Part of the batch may have been applied, so offsets are loaded again.
      throw error;
    }
    for (const row of rows) next.set(laneKey(row), BigInt(row.offset) + 1n);
  };

  return {
    turn: async () => {
      if (!isFull) await pace.next(reading.signal);
      isFull = false;
      await takeUp();
      await resumeLapsed();
      const isLate = notices.isLate();
      const found = await read();
      const rows = withoutLapsed(found);
      if (rows.length > 0) await apply(rows);
      // A record that was published more than a second ago has waited long enough for its position.
      if (isLate) await core.settle();
      const degraded = lapsed.size > 0 ? lapsedReason(lapsed.keys()) : await core.parkedReason();
      isFull = countOf(found) >= BATCH_RECORDS_MAX;
      return { degraded, rest: isFull ? undefined : () => notices.rest(reading.signal) };
    },
  };
};

const tellLapsed = ({ log, consumer }: Reading, lanes: readonly string[]): void =>
  log.error(
    { consumer: consumer.name, lanes },
    'records lapsed before they were read; the partition stands still',
  );

const isAfterGap = (row: LaneRecord, wanted: bigint): boolean =>
  wanted > 0n && BigInt(row.first) > wanted;

const topicsOf = (lanes: Iterable<Lane>): readonly string[] => [
  ...new Set([...lanes].map(({ topic }) => topic)),
];

const lookedOf = (rows: readonly LaneRecord[]): Looked => ({
  records: rows.filter((row) => row.is_kept) satisfies readonly RawRecord[],
  skipped: rows
    .filter((row) => !row.is_kept)
    .map(
      ({ topic, partition, offset, position, part }): SkippedRecord => ({
        topic,
        partition,
        offset,
        position: position ?? undefined,
        part: part ?? undefined,
      }),
    ),
});

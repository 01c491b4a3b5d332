/** Reads the partitions that this member holds, and applies what it finds, one batch per iteration. */
import type { Turn } from '@cardea/log-follower';
import { type Logger, pacing } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import type { ConsumerCore } from '../consuming/consumer-core.ts';
import { type Lane, laneKey } from '../consuming/consumer-positions.ts';
import type { Looked, RawRecord, SkippedRecord } from '../consuming/records.ts';
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
  /** The next offset of each lane that this member reads; empty: to be loaded. */
  let next = new Map<string, bigint>();
  let lanes: Lane[] = [];
  const lapsed = new Set<string>();
  /** There was more to read than one batch takes: that has waited already. */
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
   * A lane that was read before must continue without a gap, else its next records were deleted before they
   * were read.
   */
  const withoutLapsed = (rows: readonly LaneRecord[]): readonly LaneRecord[] => {
    const before = lapsed.size;
    for (const row of rows) {
      const wanted = next.get(laneKey(row)) ?? 0n;
      if (wanted > 0n && BigInt(row.first) > wanted) lapsed.add(laneKey(row));
    }
    if (lapsed.size === before) return rows;
    reading.log.error(
      { consumer: consumer.name, lanes: [...lapsed] },
      'records lapsed before they were read; the partition stands still',
    );
    return rows.filter((row) => !lapsed.has(laneKey(row)));
  };
  const apply = async (rows: readonly LaneRecord[]): Promise<void> => {
    try {
      await core.apply(lookedOf(rows), reading.tick);
    } catch (error) {
      next = new Map(); // part of the batch may have been applied
      throw error;
    }
    for (const row of rows) next.set(laneKey(row), BigInt(row.offset) + 1n);
  };

  return {
    turn: async () => {
      if (!isFull) await pace.next(reading.signal);
      isFull = false;
      await takeUp();
      const isLate = notices.isLate();
      const found = await read();
      const rows = withoutLapsed(found);
      if (rows.length > 0) await apply(rows);
      // What was published more than a second ago has waited long enough for its position.
      if (isLate) await core.settle();
      const degraded = lapsedReason(lapsed) ?? (await core.parkedReason());
      isFull = countOf(found) >= BATCH_RECORDS_MAX;
      return { degraded, rest: isFull ? undefined : () => notices.rest(reading.signal) };
    },
  };
};

const lapsedReason = ({ size }: ReadonlySet<string>): string | undefined =>
  size === 0 ? undefined : `records lapsed before they were read in ${size} partitions`;

const lookedOf = (rows: readonly LaneRecord[]): Looked => ({
  records: rows.filter((row) => row.is_kept) satisfies readonly RawRecord[],
  skipped: rows
    .filter((row) => !row.is_kept)
    .map(
      ({ topic, partition, offset, position, part }): SkippedRecord => ({
        ...{ topic, partition, offset },
        position: position ?? undefined,
        part: part ?? undefined,
      }),
    ),
});

import {
  type AppliedOffsets,
  type LanePosition,
  laneKey,
  NOTHING_APPLIED,
} from './consuming/consumer-positions.ts';

/** The first offset of a partition, and the offset that its next record will get. */
export type PartitionEnds = {
  readonly topic: string;
  readonly partition: number;
  readonly low: bigint;
  readonly high: bigint;
};

/**
 * Whether everything was applied that these partitions contained when their ends were read. A partition that is paused
 * because the topic no longer has the consumer's next records is left out.
 */
export const hasPassed = (ends: readonly PartitionEnds[], applied: AppliedOffsets): boolean =>
  ends.every((end) => {
    const next = (applied.get(laneKey(end)) ?? NOTHING_APPLIED.offset) + 1n;
    return isLapsed(end, next) || next >= end.high || end.low >= end.high;
  });

/** Whether the topic dropped a reader's next record before it was read, or was created again. */
export const isLapsed = ({ low, high }: PartitionEnds, next: bigint): boolean =>
  next > 0n && (next < low || next > high);

export type LapsedPartition = {
  readonly topic: string;
  readonly partition: number;
  /** The last position in the source's log that was applied. */
  readonly position: bigint;
};

export const lapsedAmong = (
  ends: readonly PartitionEnds[],
  positions: ReadonlyMap<string, LanePosition>,
): readonly LapsedPartition[] =>
  ends.flatMap((end) => {
    const { offset, position } = positions.get(laneKey(end)) ?? NOTHING_APPLIED;
    const { topic, partition } = end;
    return isLapsed(end, offset + 1n) ? [{ topic, partition, position }] : [];
  });

const LAPSED_NAMED_MAX = 12;

/** The text that readiness shows. `lanes` are names made by `laneKey`. */
export const lapsedReason = (lanes: Iterable<string>): string => {
  const names = [...lanes];
  const more =
    names.length > LAPSED_NAMED_MAX ? `, and ${names.length - LAPSED_NAMED_MAX} more` : '';
  const named = names.slice(0, LAPSED_NAMED_MAX).join(', ');
  return `records lapsed before they were read, cardea relay replay brings them back: ${named}${more}`;
};

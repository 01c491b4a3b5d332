import { type AppliedOffsets, laneKey, NOTHING_APPLIED } from './consuming/consumer-positions.ts';

/** Where a partition begins, and the offset that its next record will get. */
export type PartitionEnds = {
  readonly topic: string;
  readonly partition: number;
  readonly low: bigint;
  readonly high: bigint;
};

/**
 * True when all was applied that lay on these partitions when their ends were read. One that stands still,
 * because the records that its consumer wants next are gone, is left out.
 */
export const hasPassed = (ends: readonly PartitionEnds[], applied: AppliedOffsets): boolean =>
  ends.every((end) => {
    const next = (applied.get(laneKey(end)) ?? NOTHING_APPLIED.offset) + 1n;
    const isLapsed = next > 0n && next < end.low;
    return isLapsed || next >= end.high || end.low >= end.high;
  });

import { type AppliedOffsets, laneKey, NOTHING_APPLIED } from './consuming/consumer-positions.ts';

/** Where a partition begins, and the offset that its next record will get. */
export type PartitionEnds = {
  readonly topic: string;
  readonly partition: number;
  readonly low: bigint;
  readonly high: bigint;
};

/**
 * True when everything was applied that these partitions held when their ends were read. A partition that
 * is paused because the topic no longer holds the consumer's next records is left out.
 */
export const hasPassed = (ends: readonly PartitionEnds[], applied: AppliedOffsets): boolean =>
  ends.every((end) => {
    const next = (applied.get(laneKey(end)) ?? NOTHING_APPLIED.offset) + 1n;
    const isLapsed = next > 0n && next < end.low;
    return isLapsed || next >= end.high || end.low >= end.high;
  });

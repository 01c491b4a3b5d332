/**
 * Computes which lanes a batch of records advances, how far, and which of its events were not applied before.
 */
import type { IntegrationEvent } from '@cardea/contracts';
import {
  isNewer,
  type Lane,
  type LanePosition,
  laneKey,
  NOTHING_APPLIED,
  raised,
} from './consumer-positions.ts';
import { streamName } from './waiting-events.ts';

/** A parsed record. It has no event if it was skipped or its envelope is not readable. */
export type Opened = Lane & {
  readonly offset: bigint;
  readonly event: IntegrationEvent | undefined;
  /** The position of a skipped record in the source's log. */
  readonly skipped?: Pick<LanePosition, 'position' | 'part'>;
};

/** Each lane once, in the order of the records. */
export const lanesOf = (records: readonly Opened[]): readonly Lane[] => {
  const lanes = new Map<string, Lane>();
  for (const record of records) {
    lanes.set(laneKey(record), { topic: record.topic, partition: record.partition });
    const own = positionLane(record);
    lanes.set(laneKey(own), own);
  }
  return [...lanes.values()];
};

/** The lane whose position this record advances: its partition, or its own stream if the relay had parked it. */
const positionLane = ({ topic, partition, event }: Opened): Lane =>
  event?.released === true
    ? { topic: `${topic}#${streamName(event)}`, partition }
    : { topic, partition };

/** Advances the lanes over the records and returns the records that were not applied before. */
export const advance = (
  records: readonly Opened[],
  seen: Map<string, LanePosition>,
): readonly Opened[] =>
  records.filter((record) => {
    const partition = laneKey(record);
    const before = seen.get(partition) ?? NOTHING_APPLIED;
    seen.set(partition, raised(before, { ...before, ...record.skipped, offset: record.offset }));
    if (record.event === undefined) return false;
    const lane = laneKey(positionLane(record));
    const last = seen.get(lane) ?? NOTHING_APPLIED;
    if (!isNewer(record.event, last)) return false;
    const { position, part = 0 } = record.event;
    seen.set(lane, { ...last, position: BigInt(position), part });
    return true;
  });

export const movedOf = (records: readonly Opened[], seen: Map<string, LanePosition>) =>
  lanesOf(records).map((lane) => ({ ...lane, ...(seen.get(laneKey(lane)) ?? NOTHING_APPLIED) }));

/** Every topic under which a position is stored, including those for single streams that the relay had parked. */
export const topicsOf = (records: readonly Opened[]): readonly string[] => [
  ...new Set(lanesOf(records).map(({ topic }) => topic)),
];

/** Which lanes a batch of records moves, how far, and which of its events are new to them. */
import type { IntegrationEvent } from '@cardea/contracts';
import {
  isNewer,
  type Lane,
  type LanePosition,
  laneKey,
  NOTHING_APPLIED,
} from './consumer-positions.ts';
import { streamName } from './waiting-events.ts';

/** A record whose envelope was read; without an event where that was not possible. */
export type Opened = Lane & {
  readonly offset: bigint;
  readonly event: IntegrationEvent | undefined;
};

/** Each once, in the order in which the records name them. */
export const lanesOf = (records: readonly Opened[]): readonly Lane[] => {
  const lanes = new Map<string, Lane>();
  for (const record of records) {
    lanes.set(laneKey(record), { topic: record.topic, partition: record.partition });
    const own = positionLane(record);
    lanes.set(laneKey(own), own);
  }
  return [...lanes.values()];
};

/** Where a record's source position counts: in its partition, or for a stream that the relay had parked, by itself. */
const positionLane = ({ topic, partition, event }: Opened): Lane =>
  event?.released === true
    ? { topic: `${topic}#${streamName(event)}`, partition }
    : { topic, partition };

/** Moves the lanes over the records and answers those that were not seen before. */
export const advance = (
  records: readonly Opened[],
  seen: Map<string, LanePosition>,
): readonly Opened[] =>
  records.filter((record) => {
    const partition = laneKey(record);
    const before = seen.get(partition) ?? NOTHING_APPLIED;
    seen.set(partition, { ...before, offset: max(before.offset, record.offset) });
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

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Every topic that a position is kept under, those of streams that the relay had parked too. */
export const topicsOf = (records: readonly Opened[]): readonly string[] => [
  ...new Set(lanesOf(records).map(({ topic }) => topic)),
];

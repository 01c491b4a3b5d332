/**
 * The stored positions of a consumer as this process last wrote them, while no stream is parked. Another process may
 * have moved them since; a batch that starts from here is then refused. Parking a stream moves its partition too, so
 * while a position is valid, no stream of its partition is parked.
 */
import {
  type ConsumerProgress,
  type LanePosition,
  laneKey,
  NOTHING_APPLIED,
  raised,
} from './consumer-positions.ts';
import { lanesOf, type Opened } from './lane-moves.ts';
import type { Moved } from './late-positions.ts';

export type KnownPositions = {
  /** Returns undefined if the tables have to be read. */
  before(records: readonly Opened[]): ConsumerProgress | undefined;
  /** Stores the positions of these topics from one snapshot. */
  learn(topics: readonly string[], progress: ConsumerProgress): void;
  /** Call it after the commit that moved or raised them. */
  moved(to: readonly Moved[]): void;
  /** Called when the stored positions are uncertain, or when a stream was parked. */
  forget(): void;
};

/** Stores positions of the given topics only. In other topics a stream may be sent late, after newer records. */
export const knownPositions = (kept: readonly string[]): KnownPositions => {
  const topics = new Set<string>();
  const positions = new Map<string, LanePosition>();
  const positionOf = (lane: string): LanePosition => positions.get(lane) ?? NOTHING_APPLIED;
  const forget = (): void => {
    topics.clear();
    positions.clear();
  };
  return {
    before: (records) => {
      const lanes = lanesOf(records);
      if (!lanes.every(({ topic }) => topics.has(topic))) return undefined;
      return {
        seen: new Map(lanes.map(laneKey).map((lane) => [lane, positionOf(lane)])),
        parked: [],
      };
    },
    learn: (read, { seen, parked }) => {
      if (parked.length > 0) return forget();
      for (const topic of read) if (kept.includes(topic)) topics.add(topic);
      for (const [lane, position] of seen) positions.set(lane, position);
    },
    moved: (to) => {
      for (const each of to) {
        if (!topics.has(each.topic)) continue;
        const lane = laneKey(each);
        positions.set(lane, raised(positionOf(lane), each));
      }
    },
    forget,
  };
};

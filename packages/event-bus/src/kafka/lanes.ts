import type { Logger } from '@cardea/runtime';
import type { Consumer as KafkaConsumer } from 'kafkajs';
import type { ConsumerCore } from '../consuming/consumer-core.ts';
import { type Lane, laneKey } from '../consuming/consumer-positions.ts';
import type { TopicEnds } from './topic-ends.ts';

/**
 * The partitions that this member reads. A partition is paused until the driver was set to the offset in
 * our own tables, because Kafka's committed offset is advisory only. It stays paused when the topic no
 * longer holds that offset, because the driver would silently continue at another one.
 */
export type Lanes = {
  /** Called within the join itself, before anything is fetched. */
  joined(assignment: { readonly [topic: string]: readonly number[] }): void;
  /** Whether records from this offset on may be applied. */
  mayApply(lane: Lane, firstOffset: bigint): Promise<boolean>;
  /** Records up to and including this offset were applied. */
  applied(lane: Lane, offset: bigint): void;
  /** Partitions that are paused because the topic no longer holds their next offset. */
  readonly lapsed: ReadonlySet<string>;
  stop(): void;
};

type Dependencies = {
  readonly consumer: KafkaConsumer;
  readonly core: ConsumerCore;
  readonly ends: TopicEnds;
  readonly log: Logger;
  readonly gotOn: () => void;
  /** Waits before the next try; false when the consumer is stopping. */
  readonly failed: (error: unknown) => Promise<boolean>;
};

export const lanesOf = ({ consumer, core, ends, log, gotOn, failed }: Dependencies): Lanes => {
  const lapsed = new Set<string>();
  let expected = new Map<string, bigint>();
  let joins = 0;

  const takeUp = async (lanes: readonly Lane[], join: number): Promise<void> => {
    const topics = [...new Set(lanes.map(({ topic }) => topic))];
    await core.settle();
    const stored = await core.offsets();
    const found = new Map((await ends.of(topics)).map((each) => [laneKey(each), each]));
    if (join !== joins) return;
    const next = new Map<string, bigint>();
    const ready: Lane[] = [];
    for (const lane of lanes) {
      const name = laneKey(lane);
      const end = found.get(name);
      const offset = (stored.get(name)?.offset ?? -1n) + 1n;
      if (end === undefined) throw new Error('a partition without ends');
      if (offset > 0n && (offset < end.low || offset > end.high)) {
        standStill(lane);
        continue;
      }
      const start = offset > end.low ? offset : end.low;
      next.set(name, start);
      consumer.seek({ ...lane, offset: String(start) });
      ready.push(lane);
    }
    expected = next;
    consumer.resume(assignments(ready));
    gotOn();
  };
  const standStill = (lane: Lane): void => {
    lapsed.add(laneKey(lane));
    consumer.pause(assignments([lane]));
    log.error(
      { topic: lane.topic, partition: lane.partition },
      'records lapsed before they were read; the partition stands still',
    );
  };
  const isWithinEnds = async (lane: Lane, offset: bigint): Promise<boolean> => {
    const found = await ends.of([lane.topic]);
    return found.some(
      ({ partition, low, high }) => partition === lane.partition && offset >= low && offset <= high,
    );
  };

  return {
    lapsed,
    joined: (assignment) => {
      joins += 1;
      const join = joins;
      lapsed.clear();
      const lanes = Object.entries(assignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      );
      consumer.pause(assignments(lanes));
      expected = new Map();
      const untilTakenUp = async (): Promise<void> => {
        for (let again = true; again && join === joins; ) {
          again = await takeUp(lanes, join).then(() => false, failed);
        }
      };
      if (lanes.length > 0) void untilTakenUp();
    },
    mayApply: async (lane, firstOffset) => {
      const wanted = expected.get(laneKey(lane));
      if (wanted === undefined || lapsed.has(laneKey(lane))) return false;
      if (firstOffset === wanted) return true;
      // An older offset: fetched before a join, unless the topic was made anew. What was applied is
      // recognized by its position.
      if (firstOffset < wanted && (await isWithinEnds(lane, wanted))) return true;
      standStill(lane);
      return false;
    },
    applied: (lane, offset) => {
      if (expected.has(laneKey(lane))) expected.set(laneKey(lane), offset + 1n);
    },
    stop: () => {
      joins += 1;
    },
  };
};

const assignments = (lanes: readonly Lane[]): { topic: string; partitions: number[] }[] =>
  [...Map.groupBy(lanes, ({ topic }) => topic)].map(([topic, all]) => ({
    topic,
    partitions: all.map(({ partition }) => partition),
  }));

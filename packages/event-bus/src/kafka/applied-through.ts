import { SERVICE_NAMES, topicOf } from '@cardea/contracts';
import type { Database } from '@cardea/read-models';
import type { Cache } from '@cardea/runtime';
import { consumerPositions, laneKey, NOTHING_APPLIED } from '../consuming/consumer-positions.ts';
import { isLapsed, type PartitionEnds } from '../partition-ends.ts';
import { relayPositionKey } from '../relay/position-note.ts';
import type { TopicEnds } from './topic-ends.ts';

type Dependencies = {
  readonly database: Database;
  readonly schema: string;
  readonly cache: Pick<Cache, 'get'>;
  readonly ends: TopicEnds;
};

/**
 * The position up to which everything that the relay has sent was applied. The relay's stored position is read before
 * the topics' ends, and those before the consumer's offsets, so the result is never too high. While records are unread
 * it may be lower than possible, because unread records are not inspected.
 */
export const appliedThrough = async (
  { database, schema, cache, ends }: Dependencies,
  consumer: string,
  topic: string,
): Promise<bigint> => {
  const log = SERVICE_NAMES.find((name) => topicOf(name) === topic);
  const relayed = BigInt((await cache.get(relayPositionKey(log ?? topic))) ?? 0);
  const partitions = await ends.of([topic]);
  const applied = await consumerPositions(schema, consumer).read(database.system, [topic]);
  const of = (partition: PartitionEnds) => applied.get(laneKey(partition)) ?? NOTHING_APPLIED;
  const waiting = partitions.filter((partition) => {
    const { offset } = of(partition);
    return offset < lastOf(partition) || isLapsed(partition, offset + 1n);
  });
  if (waiting.length > 0) {
    return waiting.map((partition) => of(partition).position).reduce(lower);
  }
  const highest = [...applied.values()].map(({ position }) => position);
  return [relayed, ...highest].reduce(higher);
};

/** Records of each topic that are not applied yet, without those that the topic no longer has. */
export const lagOf = async (
  { database, schema, ends }: Dependencies,
  consumer: string,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const partitions = await ends.of(topics);
  const applied = await consumerPositions(schema, consumer).read(database.system, topics);
  const lag = new Map(topics.map((topic) => [topic, 0]));
  for (const partition of partitions) {
    const { offset } = applied.get(laneKey(partition)) ?? NOTHING_APPLIED;
    const from = offset + 1n > partition.low ? offset + 1n : partition.low;
    const left = Number(lastOf(partition) + 1n - from);
    if (left > 0) lag.set(partition.topic, (lag.get(partition.topic) ?? 0) + left);
  }
  return lag;
};

/** -1 if the topic has no records any more. */
const lastOf = ({ low, high }: PartitionEnds): bigint => (high > low ? high - 1n : -1n);

const higher = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b);

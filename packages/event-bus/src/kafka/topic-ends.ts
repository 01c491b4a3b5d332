import { setTimeout as pause } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { PartitionEnds } from '../partition-ends.ts';
import { bounded, boundedEnd } from './bounded.ts';
import { type KafkaClient, RETRY_SHORTLY } from './kafka-client.ts';

/** Asks the brokers for the first and next offsets of topics. A topic that does not exist has no partitions. */
export type TopicEnds = {
  /** Throws when no broker answers in time. */
  of(topics: readonly string[]): Promise<readonly PartitionEnds[]>;
  close(): Promise<void>;
};

export const topicEnds = (client: KafkaClient): TopicEnds => {
  let admin: Promise<Admin> | undefined;
  const known = new Set<string>();

  const connect = async (): Promise<Admin> => {
    const made = client.connect({ retry: RETRY_SHORTLY }).admin();
    await made.connect();
    return made;
  };
  const endsOf = async (topics: readonly string[], asked: Admin) => {
    // After a query for a topic that does not exist, the driver would keep asking for it.
    if (topics.some((topic) => !known.has(topic))) {
      for (const topic of await asked.listTopics()) known.add(topic);
    }
    const ends = topics
      .filter((topic) => known.has(topic))
      .map(async (topic) =>
        (await asked.fetchTopicOffsets(topic)).map(
          ({ partition, low, high }): PartitionEnds => ({
            topic,
            partition,
            low: BigInt(low),
            high: BigInt(high),
          }),
        ),
      );
    return (await Promise.all(ends)).flat();
  };
  const forget = (): void => {
    const gone = admin;
    admin = undefined;
    known.clear();
    if (gone !== undefined) void boundedEnd(gone.then((one) => one.disconnect()));
  };
  const ask = async (topics: readonly string[]): Promise<readonly PartitionEnds[]> => {
    admin ??= connect();
    const asked = admin;
    try {
      return await asked.then((one) => endsOf(topics, one));
    } catch (error) {
      if (admin === asked) forget();
      throw error;
    }
  };
  const askAgain = async (topics: readonly string[]): Promise<readonly PartitionEnds[]> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask(topics);
      } catch (error) {
        // Just after a topic was created or a broker stopped, partitions have no leader for a moment.
        if (tries === TRIES_MAX) throw error;
        await pause(TRY_PAUSE_MS);
      }
    }
  };
  return {
    of: (topics) => bounded(askAgain(topics), ANSWER_MS_MAX),
    close: async () => {
      if (admin !== undefined) await boundedEnd(admin.then((one) => one.disconnect()));
    },
  };
};

/** Readers of the audit log wait for the answer. */
const ANSWER_MS_MAX = 1000;
const TRIES_MAX = 4;
const TRY_PAUSE_MS = 100;

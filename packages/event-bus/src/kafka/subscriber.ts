import type { Cache } from '@cardea/runtime';
import type { RunningConsumer, Subscriber } from '../bus.ts';
import { appliedOffsets, consumerPositions } from '../consuming/consumer-positions.ts';
import { lapsedAmong } from '../partition-ends.ts';
import { appliedThrough, lagOf } from './applied-through.ts';
import { type KafkaConsumerDependencies, runConsumer } from './consumer.ts';
import { topicEnds } from './topic-ends.ts';

export type KafkaSubscriberDependencies = Omit<KafkaConsumerDependencies, 'ends'> & {
  /** The cache in which relays of other processes store their positions. */
  readonly cache: Pick<Cache, 'get'>;
};

/** Reads topics of Kafka. The consumer's offsets are stored in the tables of its service, not in Kafka. */
export const kafkaSubscriber = (needs: KafkaSubscriberDependencies): Subscriber => {
  const running = new Set<RunningConsumer>();
  const ends = topicEnds(needs.client);
  return {
    run: async (consumer) => {
      const one = runConsumer(consumer, { ...needs, ends });
      running.add(one);
      return {
        stop: async () => {
          running.delete(one);
          await one.stop();
        },
      };
    },
    appliedThrough: (consumer, topic) => appliedThrough({ ...needs, ends }, consumer, topic),
    ends: (topics) => ends.of(topics),
    applied: (consumer, topics) => appliedOffsets(needs, consumer, topics),
    lapsed: async (consumer, topics) => {
      const found = await ends.of(topics);
      const { read } = consumerPositions(needs.schema, consumer);
      return lapsedAmong(found, await read(needs.database.system, topics));
    },
    lag: (consumer, topics) => lagOf({ ...needs, ends }, consumer, topics),
    close: async () => {
      await Promise.all([...running].map((one) => one.stop()));
      await ends.close();
    },
  };
};

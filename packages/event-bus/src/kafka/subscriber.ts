import type { Cache, Clock, Loops } from '@cardea/runtime';
import type { RunningConsumer, Subscriber } from '../bus.ts';
import type { ConsumerNeeds } from '../consuming/consumer-core.ts';
import { appliedOffsets } from '../consuming/consumer-positions.ts';
import { appliedThrough, lagOf } from './applied-through.ts';
import { runConsumer } from './consumer.ts';
import type { KafkaClient } from './kafka-client.ts';
import { topicEnds } from './topic-ends.ts';

export type KafkaSubscriberNeeds = ConsumerNeeds & {
  readonly client: KafkaClient;
  /** Where relays on the other side note how far they are. */
  readonly cache: Pick<Cache, 'get'>;
  readonly clock: Clock;
  readonly loops: Loops;
  /** The driver has given a consumer up for good; ends the process unless named. */
  readonly onCrash?: (error: unknown) => void;
  /** How long a silent member keeps its partitions. */
  readonly sessionMs?: number;
};

/** Reads topics of Kafka; how far a consumer has come stands in its service's tables, not in Kafka. */
export const kafkaSubscriber = (needs: KafkaSubscriberNeeds): Subscriber => {
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
    lag: (consumer, topics) => lagOf({ ...needs, ends }, consumer, topics),
    close: async () => {
      await Promise.all([...running].map((one) => one.stop()));
      await ends.close();
    },
  };
};

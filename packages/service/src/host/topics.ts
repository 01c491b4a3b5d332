/** The topics of a process: Kafka's if brokers are configured, otherwise tables of the database. */
import { kindOf, type ServiceName } from '@cardea/contracts';
import {
  busMembers,
  kafkaClient,
  kafkaPublisher,
  kafkaSubscriber,
  type Publisher,
  postgresPublisher,
  postgresSubscriber,
  type Subscriber,
  topicTails,
} from '@cardea/event-bus';
import type { ProcessSession } from '@cardea/postgres';
import { type Database, sharedTransactions } from '@cardea/read-models';
import type { Cache, Clock, Logger, Loops, Settings } from '@cardea/runtime';

export type Topics = {
  readonly publisher: Publisher;
  /** The consumers of one service store their positions in its schema. */
  readonly subscriberFor: (service: ServiceName) => Subscriber;
  close(): Promise<void>;
};

type Dependencies = {
  readonly settings: Settings;
  readonly database: Database;
  readonly locks: ProcessSession;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly loops: Loops;
  readonly log: Logger;
};

export function topicsOf({ settings, ...needs }: Dependencies): Topics {
  const { database, locks, clock, log } = needs;
  const shared = { ...needs, shared: sharedTransactions(database) };
  const subscribers: Subscriber[] = [];
  const kept = (subscriber: Subscriber): Subscriber => {
    subscribers.push(subscriber);
    return subscriber;
  };
  const close = async (publisher: Publisher): Promise<void> => {
    await Promise.all(subscribers.map((each) => each.close()));
    await publisher.close();
  };
  if (settings.KAFKA_BROKERS === undefined) {
    const tails = topicTails(clock);
    const publisher = postgresPublisher({ database, tails, locks });
    const members = busMembers({ ...shared, bus: database });
    const bus = { bus: database, members, tails, deadLetters: publisher };
    return {
      publisher,
      subscriberFor: (schema) => kept(postgresSubscriber({ ...shared, ...bus, schema, kindOf })),
      close: () => close(publisher),
    };
  }
  const client = kafkaClient({
    brokers: settings.KAFKA_BROKERS,
    tls: settings.KAFKA_TLS,
    username: settings.KAFKA_USERNAME,
    password: settings.KAFKA_PASSWORD,
    log,
  });
  const publisher = kafkaPublisher(client);
  return {
    publisher,
    subscriberFor: (schema) =>
      kept(
        kafkaSubscriber({
          ...shared,
          schema,
          client,
          kindOf,
          deadLetters: publisher,
          bus: database,
        }),
      ),
    close: () => close(publisher),
  };
}

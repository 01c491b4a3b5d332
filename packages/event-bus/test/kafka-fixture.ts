import { connect, type Socket } from 'node:net';
import { processSession } from '@cardea/postgres';
import { type Database, openDatabase, sharedTransactions } from '@cardea/read-models';
import { inProcessCache, loops, systemClock } from '@cardea/runtime';
import {
  createTopics,
  deadLetterTopicOf,
  forgetting,
  type KafkaClient,
  type KafkaSubscriberDependencies,
  kafkaClient,
  kafkaPublisher,
  kafkaSubscriber,
} from '../src/index.ts';
import { type BusSide, kindOfTest, quiet } from './bus-fixture.ts';

/** The shortest session timeout that a broker allows. */
const SESSION_MS = 6000;

export type KafkaSide = BusSide & { readonly client: KafkaClient; readonly database: Database };

/** One process's side of a bus on Kafka. */
export const kafkaSide = (
  url: string,
  brokers: readonly string[],
  over: Partial<KafkaSubscriberDependencies> = {},
): KafkaSide => {
  const sockets = cuttable();
  const client = kafkaClient({ brokers, log: quiet, socketFactory: sockets.open });
  const database = openDatabase({ connectionString: url, log: quiet });
  const locks = processSession({ connectionString: url, clock: systemClock, log: quiet });
  const watched = loops(systemClock);
  const publisher = kafkaPublisher(client);
  const needs = {
    database,
    bus: database,
    schema: 'identity',
    shared: sharedTransactions(database),
    deadLetters: publisher,
    kindOf: kindOfTest,
    clock: systemClock,
    log: quiet,
    ...over,
  };
  const subscriber = kafkaSubscriber({
    client,
    cache: inProcessCache(systemClock),
    loops: watched,
    locks,
    sessionMs: SESSION_MS,
    ...needs,
  });
  return {
    client,
    database,
    publisher,
    subscriber,
    needs,
    degraded: () => watched.state().flatMap(({ degraded }) => degraded ?? []),
    kill: async () => sockets.cut(),
    close: async () => {
      await subscriber.close();
      await publisher.close();
      await locks.close();
      await database.close();
    },
  };
};

/** Creates the topics of a consumer, including its topic for dead letters. */
export const makeTopics = async (
  brokers: readonly string[],
  names: readonly string[],
): Promise<void> => {
  const client = kafkaClient({ brokers, log: quiet });
  await createTopics(client, { replication: 1, topics: names.map(forgetting) });
};

export const topicsOfConsumer = (name: string): readonly string[] => [
  `cardea.${name}.events.v1`,
  deadLetterTopicOf(name),
];

/** Sockets that can be cut all at once and then refuse to open. */
const cuttable = () => {
  const opened = new Set<Socket>();
  let isCut = false;
  return {
    open: ({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }) => {
      const socket = connect({ host, port: isCut ? 1 : port }, onConnect);
      opened.add(socket);
      socket.once('close', () => opened.delete(socket));
      return socket;
    },
    cut: () => {
      isCut = true;
      for (const socket of opened) socket.destroy();
    },
  };
};

import { randomUUID } from 'node:crypto';
import { type IntegrationEvent, integrationEvents } from '@cardea/contracts';
import { type ProcessSession, processSession } from '@cardea/postgres';
import {
  type Database,
  openDatabase,
  sharedTransactions,
  type Transaction,
} from '@cardea/read-models';
import { type Logger, loops, systemClock } from '@cardea/runtime';
import { Client } from 'pg';
import Type from 'typebox';
import {
  busMembers,
  type Consumer,
  type ConsumerDependencies,
  type DeadLetters,
  hasPassed,
  type Publisher,
  postgresPublisher,
  postgresSubscriber,
  type Subscriber,
  topicTails,
} from '../src/index.ts';

/** Our own logger, because a process under test starts faster without the test driver. */
export const quiet: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => quiet,
};

/** The events of the bus tests. Each contains a number that rises per stream, so that order and repeats are visible. */
export const testEvents = integrationEvents('identity', {
  'thing.counted': Type.Object({ number: Type.Integer() }),
  'thing.noted': Type.Object({ number: Type.Integer() }),
  'thing.ignored': Type.Object({ number: Type.Integer() }),
});
export const kindOfTest = (_source: string, type: string, version: number) =>
  testEvents.kind(type, version);

/** Whether this consumer has applied everything that these topics contained at the time of the call. */
export const isLevel = async (
  subscriber: Subscriber,
  consumer: string,
  topics: readonly string[],
): Promise<boolean> => {
  const ends = await subscriber.ends(topics);
  return hasPassed(ends, await subscriber.applied(consumer, topics));
};

const context = { ip: null, user_agent: null, app_id: null, agent_id: null, request_id: null };

export const countedEvent = (
  streamId: string,
  number: number,
  position: number,
): IntegrationEvent => ({
  id: randomUUID(),
  type: 'thing.counted',
  source: 'identity',
  time: '2031-05-04T03:02:01.007Z',
  tenantId: 'acme',
  streamId,
  position: String(position),
  schemaVersion: 1,
  actor: { type: 'user', id: 'ann' },
  data: { number, context },
});

export const ofType = (type: string, event: IntegrationEvent): IntegrationEvent => ({
  ...event,
  type,
});

/** `count` events, round robin over `streams` streams; the numbers of each stream are 1, 2, 3 … */
export const countedEvents = (count: number, streams: number): readonly IntegrationEvent[] =>
  Array.from({ length: count }, (_, index) =>
    countedEvent(`thing-${index % streams}`, Math.floor(index / streams) + 1, index + 1),
  );

/** A connection of the owner role, for tests that inspect or damage tables. */
export const connect = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
};

/** The table that test consumers write to: each event, in the order in which it took effect. */
export const EFFECTS = `
  CREATE SCHEMA effects;
  CREATE TABLE effects.seen (
    nth bigint GENERATED ALWAYS AS IDENTITY, consumer text, stream_id text, number int, event_id uuid);
  CREATE TABLE effects.prepared (
    consumer text, event_id uuid, times int NOT NULL, PRIMARY KEY (consumer, event_id));
  GRANT USAGE ON SCHEMA effects TO cardea_system;
  GRANT ALL ON ALL TABLES IN SCHEMA effects TO cardea_system`;

export const recordEffects = async (
  consumer: string,
  events: readonly IntegrationEvent[],
  transaction: Transaction,
): Promise<void> => {
  await transaction.query(
    `INSERT INTO effects.seen (consumer, stream_id, number, event_id)
     SELECT $1, e.stream_id, e.number, e.event_id
     FROM unnest($2::text[], $3::int[], $4::uuid[]) WITH ORDINALITY AS e(stream_id, number, event_id, nth)
     ORDER BY e.nth`,
    [
      consumer,
      events.map(({ streamId }) => streamId),
      events.map(({ data }) => data['number']),
      events.map(({ id }) => id),
    ],
  );
};

/** The numbers that took effect, by stream, in order. */
export const effectsOf = async (
  client: Client,
  consumer: string,
): Promise<Map<string, readonly number[]>> => {
  const { rows } = await client.query<{ stream_id: string; numbers: number[] }>(
    `SELECT stream_id, array_agg(number ORDER BY nth) AS numbers FROM effects.seen
     WHERE consumer = $1 GROUP BY stream_id`,
    [consumer],
  );
  return new Map(rows.map((row) => [row.stream_id, row.numbers]));
};

/** How often each event was prepared, by event id. */
export const preparedBy = async (
  client: Client,
  consumer: string,
): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await client.query<{ event_id: string; times: number }>(
    'SELECT event_id, times FROM effects.prepared WHERE consumer = $1',
    [consumer],
  );
  return new Map(rows.map((row) => [row.event_id, row.times]));
};

export const countOf = (effects: ReadonlyMap<string, readonly number[]>): number =>
  [...effects.values()].reduce((sum, numbers) => sum + numbers.length, 0);

export const upTo = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index + 1);

/** One process's side of the bus. */
export type BusSide = {
  readonly publisher: Publisher & DeadLetters;
  readonly subscriber: Subscriber;
  readonly needs: ConsumerDependencies;
  readonly degraded: () => readonly string[];
  /** Ends like a killed process: its connections break. */
  kill(): Promise<void>;
  close(): Promise<void>;
};

export type PostgresSide = BusSide & {
  readonly database: Database;
  readonly locks: ProcessSession;
  /** A subscriber that reads the topics from another database. */
  readonly subscriberOn: (bus: Database) => Subscriber;
};

export const postgresSide = (url: string): PostgresSide => {
  const database = openDatabase({ connectionString: url, log: quiet });
  const locks = processSession({ connectionString: url, clock: systemClock, log: quiet });
  const watched = loops(systemClock);
  const tails = topicTails(systemClock);
  const publisher = postgresPublisher({ database, tails, locks });
  const needs = {
    database,
    bus: database,
    schema: 'identity',
    deadLetters: publisher,
    shared: sharedTransactions(database),
    kindOf: kindOfTest,
    clock: systemClock,
    log: quiet,
  };
  const members = busMembers({ ...needs, locks, loops: watched });
  const subscriberOn = (bus: Database): Subscriber =>
    postgresSubscriber({ ...needs, bus, locks, members, tails, loops: watched });
  const subscriber = subscriberOn(database);
  return {
    database,
    locks,
    publisher,
    subscriber,
    subscriberOn,
    needs,
    degraded: () => watched.state().flatMap(({ degraded }) => degraded ?? []),
    kill: () => locks.close(),
    close: async () => {
      await subscriber.close();
      await locks.close();
      await database.close();
    },
  };
};

export const countingConsumer = (
  name: string,
  topic: string,
  handle?: Consumer['handle'],
): Consumer => ({
  name,
  topics: [topic],
  handle: handle ?? ((events, transaction) => recordEffects(name, events, transaction)),
});

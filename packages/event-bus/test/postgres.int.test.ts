import type { Database, Sql } from '@cardea/read-models';
import { processFixture, testDatabase, untilTrue } from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { forgetOldRecords, keyOf, partitionOf } from '../src/index.ts';
import {
  connect,
  countedEvent,
  countedEvents,
  countingConsumer,
  countOf,
  EFFECTS,
  effectsOf,
  isLevel,
  ofType,
  postgresSide,
  upTo,
} from './bus-fixture.ts';
import { describeBus } from './conformance.ts';

const testing = testDatabase();
const processes = processFixture();
let client: Client;
beforeAll(async () => {
  client = await connect(testing.url);
  await client.query(EFFECTS);
});
afterAll(() => client?.end());

describeBus('Postgres', () => ({
  url: testing.url,
  processes,
  brokers: '',
  open: () => postgresSide(testing.url),
  client: () => client,
  recordsOf: async (topic) =>
    (
      await client.query(
        `SELECT topic, partition, "offset", value AS event FROM bus.records
         WHERE topic = $1 ORDER BY partition, "offset"`,
        [topic],
      )
    ).rows,
  putForeign: async (topic, key, value) => {
    await client.query('SELECT bus.publish($1, $2, $3, $4)', [
      topic,
      [partitionOf(key)],
      [key],
      JSON.stringify([value]),
    ]);
  },
}));

test('R3 what this process and others publish in turn is applied once, each stream in its order', async () => {
  const [ours, theirs] = [postgresSide(testing.url), postgresSide(testing.url)];
  const topic = 'in.turn';
  const name = 'in_turn';
  const types = ['thing.counted'];
  const running = await ours.subscriber.run({ ...countingConsumer(name, topic), types });
  const all = countedEvents(1200, 6);
  // More records than the process keeps, all at once and one by one, including some that the consumer ignores.
  const sizes = [1, 3, 600, 1, 7, 2, 40];
  for (let from = 0, turn = 0; from < all.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    const events = all.slice(from, from + size);
    const ignored = events.slice(0, turn % 3).map((event) => ofType('thing.ignored', event));
    const side = turn % 5 < 2 ? theirs : ours;
    await side.publisher.publish(topic, [...events, ...ignored]);
    from += size;
  }
  await untilTrue(() => isLevel(ours.subscriber, name, [topic]));
  await running.stop();
  const seen = await effectsOf(client, name);
  for (let stream = 0; stream < 6; stream += 1) {
    expect(seen.get(`thing-${stream}`)).toEqual(upTo(200));
  }
  await Promise.all([ours.close(), theirs.close()]);
});

test('records of this process are not read from the table', async () => {
  const side = postgresSide(testing.url);
  const reads: unknown[] = [];
  const topic = 'from.memory';
  const bus = {
    ...side.database,
    system: {
      query: async (sql: Sql, values?: readonly unknown[]) => {
        reads.push(sql);
        return side.database.system.query(sql, values);
      },
    },
  } as Database;
  const subscriber = side.subscriberOn(bus);
  const running = await subscriber.run(countingConsumer('from_memory', topic));
  const countNow = async () => countOf(await effectsOf(client, 'from_memory'));
  await side.publisher.publish(topic, countedEvents(1, 1));
  await untilTrue(async () => (await countNow()) === 1);
  const isRead = (sql: unknown) => JSON.stringify(sql).includes('bus.read');
  const before = reads.filter(isRead).length;
  expect(before).toBeGreaterThan(0);
  for (let n = 2; n <= 20; n += 1) {
    await side.publisher.publish(topic, [countedEvent('thing-0', n, n)]);
  }
  await untilTrue(async () => (await countNow()) === 20);
  expect(reads.filter(isRead).length - before).toBeLessThanOrEqual(1); // The timer caused at most one read.
  await running.stop();
  await side.close();
});

test('records older than a week are forgotten, younger ones and the tree heads stay', async () => {
  const side = postgresSide(testing.url);
  const kept = 'cardea.audit.checkpoints.v1';
  const events = countedEvents(1200, 3);
  await side.publisher.publish('old', events);
  await side.publisher.publish(kept, events.slice(0, 5));
  await client.query(`UPDATE bus.records SET published_at = now() - interval '8 days'`);
  await side.publisher.publish('old', events.slice(0, 7));
  const forgotten = await forgetOldRecords(side.database, new AbortController().signal, () => {});
  expect(forgotten).toBeGreaterThanOrEqual(1200);
  const { rows } = await client.query(
    `SELECT topic, count(*)::int AS count FROM bus.records GROUP BY topic ORDER BY topic`,
  );
  expect(rows).toEqual([
    { topic: kept, count: 5 },
    { topic: 'old', count: 7 },
  ]);
  await side.close();
});

test('a reader whose records have lapsed stands still and says so, and never skips them', async () => {
  const side = postgresSide(testing.url);
  const topic = 'lapsing';
  const first = countedEvents(1, 1);
  const partition = partitionOf(keyOf(first[0] as never));
  await side.publisher.publish(topic, first);
  let seen = 0;
  const consumer = {
    name: 'lapsing',
    topics: [topic],
    handle: async (events: readonly unknown[]) => {
      seen += events.length;
    },
  };
  const running = await side.subscriber.run(consumer);
  await untilTrue(() => seen === 1);
  await running.stop();
  await side.publisher.publish(topic, countedEvents(3, 1).slice(1));
  await client.query(
    'DELETE FROM bus.records WHERE topic = $1 AND partition = $2 AND "offset" <= 1',
    [topic, partition],
  );
  await side.subscriber.run(consumer);
  await untilTrue(() => side.degraded().some((reason) => reason.includes('lapsed')));
  expect(seen).toBe(1);
  // Nothing waits for records that this reader can never read.
  expect(await isLevel(side.subscriber, consumer.name, [topic])).toBe(true);
  await side.close();
});

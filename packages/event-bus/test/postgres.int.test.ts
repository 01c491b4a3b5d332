import { processFixture, testDatabase, untilTrue } from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { forgetOldRecords, keyOf, partitionOf } from '../src/index.ts';
import { connect, countedEvents, EFFECTS, isLevel, postgresSide } from './bus-fixture.ts';
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
  // Nobody waits for records that this reader can never read.
  expect(await isLevel(side.subscriber, consumer.name, [topic])).toBe(true);
  await side.close();
});

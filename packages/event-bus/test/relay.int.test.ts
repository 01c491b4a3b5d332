import type { IntegrationEvent } from '@cardea/contracts';
import { processFixture, testDatabase } from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll, it } from 'vitest';
import { connect, EFFECTS, postgresSide } from './bus-fixture.ts';
import { loseAndReplay } from './lost-records-suite.ts';
import { describeRelay } from './relay-suite.ts';

const database = testDatabase();
const processes = processFixture();
let client: Client;
beforeAll(async () => {
  client = await connect(database.url);
  await client.query(EFFECTS);
});
afterAll(() => client?.end());

describeRelay('Postgres', () => ({
  url: database.url,
  client,
  processes,
  brokers: '',
  publishesOnce: true,
  openBus: () => postgresSide(database.url),
  eventsOn: async (topic) => {
    const { rows } = await client.query<{ value: IntegrationEvent }>(
      'SELECT value FROM bus.records WHERE topic = $1 ORDER BY partition, "offset"',
      [topic],
    );
    return rows.map(({ value }) => value);
  },
}));

it('H3 records that a table forgot before they were read are published again', {
  timeout: 120_000,
}, async () => {
  await loseAndReplay({
    ...{ url: database.url, client, log: 'identity' },
    openBus: () => postgresSide(database.url),
    lose: async (topic) => {
      await client.query('DELETE FROM bus.records WHERE topic = $1', [topic]);
    },
  });
});

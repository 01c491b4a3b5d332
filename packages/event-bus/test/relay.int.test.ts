import type { IntegrationEvent } from '@cardea/contracts';
import { processRig, testDatabase } from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { describeRelay } from './relay-suite.ts';
import { connect, EFFECTS, postgresSide } from './rig.ts';

const database = testDatabase();
const processes = processRig();
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
  openBus: () => postgresSide(database.url),
  eventsOn: async (topic) => {
    const { rows } = await client.query<{ value: IntegrationEvent }>(
      'SELECT value FROM bus.records WHERE topic = $1 ORDER BY partition, "offset"',
      [topic],
    );
    return rows.map(({ value }) => value);
  },
}));

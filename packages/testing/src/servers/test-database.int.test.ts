import { Client } from 'pg';
import { expect, it } from 'vitest';
import { testDatabase } from './test-database.ts';

const database = testDatabase();

it('gives a test file a database of its own', async () => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query('SELECT current_database() AS name');
  await client.end();
  expect(database.url).toContain(rows[0].name);
});

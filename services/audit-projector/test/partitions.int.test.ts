import { testDatabase } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';

const database = testDatabase();
const DAY = '2031-05-01';
const MAKE = { text: 'SELECT audit.make_partition($1::date)', values: [DAY] };
const WAITING = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pid = $1`;

let clients: readonly Client[] = [];
beforeAll(async () => {
  clients = [1, 2, 3].map(() => new Client({ connectionString: database.url }));
  await Promise.all(clients.map((client) => client.connect()));
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
});

it('makes the partition of a day once for two processes that need it at once', async () => {
  const [first, second, watching] = clients as [Client, Client, Client];
  await first.query('BEGIN');
  await first.query(MAKE);
  const { rows } = await second.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const made = second.query(MAKE);
  const waits = async () => (await watching.query(WAITING, [rows[0]?.pid])).rowCount === 1;
  await expect.poll(waits, { timeout: 20_000 }).toBe(true);
  await first.query('COMMIT');
  await expect(made).resolves.toBeDefined();
});

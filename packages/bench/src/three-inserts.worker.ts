/** F, the floor of what a write costs: three transactions of one row each, by the driver alone. */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { measureCalls, serveMeasurements } from './harness.ts';

const [connectionString = '', callersText = '1'] = process.argv.slice(2);
const callers = Number(callersText);
const TRANSACTIONS = 3;
const TEXT = 'x'.repeat(400);

const clients = await Promise.all(
  Array.from({ length: callers }, async () => {
    const client = new Client({ connectionString });
    await client.connect();
    return client;
  }),
);
await clients[0]?.query('CREATE TABLE public.floor (id uuid PRIMARY KEY, text text NOT NULL)');

serveMeasurements((seconds) =>
  measureCalls(callers, seconds, async (caller) => {
    for (let nth = 0; nth < TRANSACTIONS; nth += 1) {
      const text = 'INSERT INTO public.floor VALUES ($1, $2)';
      await clients[caller]?.query({ name: 'insert', text, values: [randomUUID(), TEXT] });
    }
  }),
);

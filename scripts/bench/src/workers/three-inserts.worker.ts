/**
 * F, the floor of a write's cost: three transactions of one row each, by the driver alone. With the parameters of a
 * hash, a hash that is not counted precedes each of them. So they come as rarely as logins do, with caches that a hash
 * has used before.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { measureCalls, serveMeasurements } from '../harness.ts';
import { poolThreadsMs } from '../processor-time.ts';
import { verifier } from '../subjects/argon2.ts';

const [connectionString = '', callersText = '1', hashing] = process.argv.slice(2);
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
await clients[0]?.query(
  'CREATE TABLE IF NOT EXISTS public.floor (id uuid PRIMARY KEY, text text NOT NULL)',
);

const insert = async (caller: number): Promise<void> => {
  for (let nth = 0; nth < TRANSACTIONS; nth += 1) {
    const text = 'INSERT INTO public.floor VALUES ($1, $2)';
    await clients[caller]?.query({ name: 'insert', text, values: [randomUUID(), TEXT] });
  }
};

serveMeasurements(hashing === undefined ? alone : await besideHashes(JSON.parse(hashing)));

function alone(seconds: number) {
  return measureCalls(callers, seconds, insert);
}

/** Computes one hash at a time, as the server does on two cores. */
async function besideHashes(of: Parameters<typeof verifier>[0]) {
  const verify = await verifier(of);
  let last: Promise<void> = Promise.resolve();
  return async (seconds: number) => {
    const before = poolThreadsMs(process.pid);
    const measured = await measureCalls(callers, seconds, async (caller) => {
      last = last.then(verify);
      await last;
      await insert(caller);
    });
    const hashed = (poolThreadsMs(process.pid) - before) / (measured.count ?? Number.NaN);
    return { ...measured, cpu_ms: (measured.cpu_ms ?? Number.NaN) - hashed };
  };
}

/** B1 and B2: the cost of appending in order, compared with plain INSERTs without an order. */
import { Client } from 'pg';
import { type Bench, type BenchContext, type Goal, type Row, workerSide } from '../harness.ts';
import { pairsOf } from '../started.ts';

const WORKER = new URL('../workers/append.worker.ts', import.meta.url);

/** A table with the columns and indexes of the event store. Rows may be committed in any order. */
const FLOOR_TABLE = `
  CREATE SCHEMA bench;
  CREATE SEQUENCE bench.positions CACHE 32;
  CREATE TABLE bench.events (LIKE eventstore.events INCLUDING ALL)`;

const CALLERS: readonly (readonly [callers: number, goal?: Goal])[] = [
  [64, { at_least: 1.8 }],
  [256, { at_least: 2.5 }],
  [16],
  [1],
];

export const benches: readonly Bench[] = [
  { id: 'B1', title: 'appends per second', run: appendRates },
  { id: 'B2', title: 'append latency with one caller', run: appendLatency },
];

async function appendRates(context: BenchContext): Promise<readonly Row[]> {
  const url = await prepared(context);
  const rows: Row[] = [];
  for (const [callers, goal] of pairsOf(context, CALLERS)) {
    const subject = await appends(context, url, callers);
    const floor = await inserts(context, url, callers);
    const id = `B1 ${callers} callers`;
    rows.push(await context.compare({ id, subject, floor, ...(goal ? { goal } : {}) }));
  }
  if (context.smoke) return rows; // B2 plays one writer too.
  rows.push(
    await context.compare({
      id: 'B1 one writer',
      subject: await appends(context, url, 64),
      floor: await inserts(context, url, 1),
      goal: { at_least: 5 },
    }),
  );
  return rows;
}

async function appendLatency(context: BenchContext): Promise<readonly Row[]> {
  const url = await prepared(context);
  const row = await context.compare({
    id: 'B2',
    subject: await appends(context, url, 1),
    floor: await inserts(context, url, 1),
    figure: 'p50_ms',
    goal: { at_most: 2 },
  });
  return [row];
}

async function prepared(context: BenchContext): Promise<string> {
  const url = await context.database();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(FLOOR_TABLE);
  await client.end();
  return url;
}

const appends = (context: BenchContext, url: string, callers: number) =>
  workerSide(context, `append, ${callers} callers`, WORKER, ['store', url, `${callers}`]);

const inserts = (context: BenchContext, url: string, callers: number) =>
  workerSide(context, `INSERT, ${callers} connections`, WORKER, ['inserts', url, `${callers}`]);

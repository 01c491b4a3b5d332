/** B3 and B2r: the cost of keeping a table up to date with the log, and what waiting for it adds to a write. */
import { randomUUID } from 'node:crypto';
import { type NewEvent, postgresEventStore } from '@cardea/event-store';
import { migrate } from '@cardea/read-models';
import { logger } from '@cardea/runtime';
import { Client } from 'pg';
import { type Bench, type BenchContext, type Row, workerSide } from '../harness.ts';
import { LOG, SCHEMA, sessionsMigration } from '../subjects/projection.ts';

const WORKER = new URL('../workers/projection.worker.ts', import.meta.url);
const EVENTS = 30_000;
const EVENTS_SMOKE = 5000;
const APPENDS_AT_ONCE = 500;

export const benches: readonly Bench[] = [
  { id: 'B3', title: 'projected events per second', run: projectionRates },
  { id: 'B2r', title: 'latency of a write that waits until it can be read', run: readYourWrites },
];

async function projectionRates(context: BenchContext): Promise<readonly Row[]> {
  const url = await prepared(context);
  const events = context.smoke ? EVENTS_SMOKE : EVENTS;
  await fillLog(url, events);
  const side = (name: string, kind: string) =>
    workerSide(context, name, WORKER, [kind, url, `${events}`]);
  const subject = await side('batches of 500', 'batches');
  // COPY copies the rows that the projection made.
  await subject.measure(0);
  return [
    await context.compare({
      id: 'B3 one event per transaction',
      subject,
      floor: await side('begin, upsert, checkpoint, commit', 'single'),
      goal: { at_least: 30 },
    }),
    await context.compare({
      id: 'B3 one COPY',
      subject,
      floor: await side('COPY of the same rows', 'copy'),
      goal: { at_least: 0.25 },
    }),
  ];
}

/** The goal includes a constant, which a ratio cannot express. */
const RATIO_MAX = 1.5;
const ADDED_MS_MAX = 2;

async function readYourWrites(context: BenchContext): Promise<readonly Row[]> {
  const url = await prepared(context);
  const row = await context.compare({
    id: 'B2r',
    subject: await workerSide(context, 'append, then wait', WORKER, ['write-and-wait', url, '0']),
    floor: await workerSide(context, 'append', WORKER, ['write', url, '0']),
    figure: 'p50_ms',
  });
  const limit = row.floor_measured.p50_ms * RATIO_MAX + ADDED_MS_MAX;
  const judged = row.subject_measured.p50_ms <= limit ? 'met' : 'missed';
  return [
    {
      ...row,
      goal: `<= ${RATIO_MAX} + ${ADDED_MS_MAX} ms`,
      verdict: row.verdict === 'info' ? judged : row.verdict,
    },
  ];
}

async function prepared(context: BenchContext): Promise<string> {
  const url = await context.database();
  await migrate({
    connectionString: url,
    sets: [{ schema: SCHEMA, serviceTables: true, migrations: [sessionsMigration] }],
    appVersion: '0.1.0',
    log: logger({ service: 'bench', version: '0.1.0', level: 'error' }),
  });
  return url;
}

async function fillLog(connectionString: string, events: number): Promise<void> {
  const store = postgresEventStore({ connectionString, log: LOG });
  for (let done = 0; done < events; done += APPENDS_AT_ONCE) {
    const appends = Array.from({ length: APPENDS_AT_ONCE }, () => {
      const event = sessionStarted();
      return { streamId: `session-${event.id}`, expected: 0, events: [event] };
    });
    await store.append(appends);
  }
  await store.close();
  const client = new Client({ connectionString });
  await client.connect();
  await client.query('VACUUM ANALYZE eventstore.events');
  await client.end();
}

/** About 576 bytes, as in B1. */
function sessionStarted(): NewEvent {
  return {
    id: randomUUID(),
    type: 'SessionStarted',
    schemaVersion: 1,
    time: new Date(),
    data: { user_id: randomUUID(), ip_class: 'home', text: 'x'.repeat(260) },
    metadata: {
      tenantId: '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d3e',
      actor: { type: 'user', id: '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d3f' },
      requestId: '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d40',
    },
  };
}

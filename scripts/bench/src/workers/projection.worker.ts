/** One side of B3 or B2r as a process. */
import { randomUUID } from 'node:crypto';
import { type EventStore, postgresEventStore, type RecordedEvent } from '@cardea/event-store';
import { type ProcessSession, processSession } from '@cardea/postgres';
import {
  openDatabase,
  openPositions,
  type PositionBoard,
  runProjections,
} from '@cardea/read-models';
import { logger, loops, systemClock } from '@cardea/runtime';
import { Client } from 'pg';
import { type Measured, measureCalls, measurePasses, serveMeasurements } from '../harness.ts';
import { LOG, SCHEMA, sessionsProjection, TABLE } from '../subjects/projection.ts';

const [kind = '', connectionString = '', eventsText = '0'] = process.argv.slice(2);
const events = Number(eventsText);
const log = logger({ service: 'bench', version: '0.1.0', level: 'error' });
const clock = systemClock;
const PASS_MS_MAX = 300_000;
const PAGE = 500;

const store = postgresEventStore({ connectionString, log: LOG });
const owner = new Client({ connectionString });
await owner.connect();

/** Each pass starts with an empty table. */
const afterEmptying = (seconds: number, pass: () => Promise<number>): Promise<Measured> =>
  measurePasses(seconds, events, pass, () => owner.query(`TRUNCATE ${TABLE}, ${TABLE}_copied`));

async function countOf(table: string): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`);
  return rows[0]?.n ?? 0;
}

type Running = { readonly positions: PositionBoard; stop(): Promise<void> };

async function startProjection(leader: ProcessSession): Promise<Running> {
  const database = openDatabase({ connectionString, log });
  const positions = openPositions({ schema: SCHEMA, database, leader, clock, log });
  const running = await runProjections({
    projections: [sessionsProjection],
    store,
    database,
    schema: SCHEMA,
    leader,
    positions,
    sealer: { open: async () => null },
    loops: loops(clock),
    clock,
    log,
  });
  return {
    positions,
    stop: async () => {
      await running.stop();
      await positions.close();
      await database.close();
    },
  };
}

async function inBatches(): Promise<(seconds: number) => Promise<Measured>> {
  const leader = processSession({ connectionString, clock, log });
  const head = await store.head(LOG);
  return (seconds) =>
    afterEmptying(seconds, async () => {
      await owner.query(`DELETE FROM ${SCHEMA}.projection_checkpoints`);
      const projection = await startProjection(leader);
      await projection.positions.reached(['sessions'], head, PASS_MS_MAX);
      await projection.stop();
      return await countOf(TABLE);
    });
}

async function byCopy(): Promise<(seconds: number) => Promise<Measured>> {
  const { rows } = await owner.query<{ folder: string }>(
    "SELECT current_setting('data_directory') AS folder",
  );
  const file = `${rows[0]?.folder}/${SCHEMA}.copy`;
  await owner.query(`COPY ${TABLE} TO '${file}'`);
  return (seconds) =>
    afterEmptying(seconds, async () => {
      const copied = await owner.query(`COPY ${TABLE}_copied FROM '${file}'`);
      return copied.rowCount ?? 0;
    });
}

/** Applies events one by one, as durably as batches: neither waits for the disk. */
async function oneByOne(): Promise<(seconds: number) => Promise<Measured>> {
  await owner.query('SET synchronous_commit = off');
  await owner.query(`INSERT INTO ${SCHEMA}.projection_checkpoints (name, position)
    VALUES ('single', 0) ON CONFLICT DO NOTHING`);
  let page: readonly RecordedEvent[] = [];
  let index = 0;
  const next = async (): Promise<RecordedEvent> => {
    if (index === page.length) {
      page = await store.readLog(LOG, page.at(-1)?.position ?? 0n, PAGE);
      if (page.length === 0) page = await store.readLog(LOG, 0n, PAGE);
      index = 0;
    }
    const event = page[index++];
    if (event === undefined) throw new Error('The log is empty.');
    return event;
  };
  return async (seconds) => {
    await owner.query(`TRUNCATE ${TABLE}`);
    return await measureCalls(1, seconds, async () => {
      const event = await next();
      await owner.query('BEGIN');
      await owner.query({ name: 'upsert', text: UPSERT, values: valuesOf(event) });
      await owner.query({
        name: 'checkpoint',
        text: `UPDATE ${SCHEMA}.projection_checkpoints SET position = $1 WHERE name = 'single'`,
        values: [event.position.toString()],
      });
      await owner.query('COMMIT');
    });
  };
}

const UPSERT = `INSERT INTO ${TABLE} (id, tenant_id, user_id, ip_class, started_at)
  VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET tenant_id = excluded.tenant_id,
    user_id = excluded.user_id, ip_class = excluded.ip_class, started_at = excluded.started_at`;

const valuesOf = ({ streamId, metadata, data, time }: RecordedEvent): unknown[] => [
  streamId,
  metadata.tenantId,
  data['user_id'],
  data['ip_class'],
  time,
];

/** Measures the writes of one caller. With `waits`, a write resolves once the projection has passed it. */
async function writes(waits: boolean): Promise<(seconds: number) => Promise<Measured>> {
  const running = waits
    ? await startProjection(processSession({ connectionString, clock, log }))
    : undefined;
  return (seconds) =>
    measureCalls(1, seconds, async () => {
      const position = await append(store);
      const seen = await running?.positions.reached(['sessions'], position, 2000);
      if (seen === false) throw new Error('not seen within 2 s');
    });
}

async function append(to: EventStore): Promise<bigint> {
  const id = randomUUID();
  const [outcome] = await to.append([
    {
      streamId: `session-${id}`,
      expected: 0,
      events: [
        {
          id,
          type: 'SessionStarted',
          schemaVersion: 1,
          time: new Date(),
          data: { user_id: randomUUID(), ip_class: 'home', text: 'x'.repeat(260) },
          metadata: { tenantId: randomUUID(), actor: { type: 'user', id: randomUUID() } },
        },
      ],
    },
  ]);
  if (outcome?.appended !== true) throw new Error('refused');
  return outcome.position;
}

const KINDS: { readonly [kind: string]: () => Promise<(seconds: number) => Promise<Measured>> } = {
  batches: inBatches,
  single: oneByOne,
  copy: byCopy,
  write: () => writes(false),
  'write-and-wait': () => writes(true),
};

const start = KINDS[kind];
if (start === undefined) throw new Error(`There is no side ${kind}.`);
serveMeasurements(await start());

import type { EventStore, RecordedEvent } from '@cardea/event-store';
import { parkedStreams } from '@cardea/log-follower';
import { rebuildProjection } from '@cardea/read-models';
import {
  inMemoryEventStore,
  inMemoryLogs,
  silentLogger,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  event,
  LOG,
  migrateThings,
  OTHER_TENANT,
  runThings,
  SCHEMA,
  TENANT,
  thingsProjection,
} from './things.ts';

const EVENTS = 10_000;
const STREAMS = 700;
const WAIT_MS = 60_000;
const test = testDatabase();
let poisoned = true;
const projection = thingsProjection(() => poisoned);
const logs = inMemoryLogs();
let store: EventStore;
let things: Awaited<ReturnType<typeof runThings>>;
let owner: Client;

beforeAll(async () => {
  await migrateThings(test.url);
  store = inMemoryEventStore(LOG, logs);
  things = await runThings(test.url, { projections: [projection], store });
  owner = new Client({ connectionString: test.url });
  await owner.connect();
});
afterAll(async () => {
  await things.stop();
  await owner.end();
});

/** Reproducible, so that a failure can be examined. */
function* history(): Generator<{ streamId: string; said: ReturnType<typeof event> }> {
  let state = 42;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  for (let index = 0; index < EVENTS; index += 1) {
    const number = random(STREAMS);
    const id = String(number);
    const type = ['ThingMade', 'ThingRenamed', 'ThingRenamed', 'ThingTagged', 'ThingRemoved'][
      random(5)
    ];
    const tenant = number % 2 === 0 ? TENANT : OTHER_TENANT;
    const data = {
      id,
      name: `name ${index}`,
      tags: [`t${random(9)}`],
      doc: { index },
      times: index,
    };
    const poison = index === 5000 ? 'Poison' : type;
    yield { streamId: `thing-${id}`, said: event(poison ?? 'ThingMade', data, tenant) };
  }
}

/** Writes directly into the array, because the store searches all of it at each append. */
function recordAll(): bigint {
  const revisions = new Map<string, number>();
  const recorded = [...history()].map(({ streamId, said }, index): RecordedEvent => {
    const revision = (revisions.get(streamId) ?? 0) + 1;
    revisions.set(streamId, revision);
    return { ...said, log: LOG, streamId, revision, position: BigInt(index + 1) };
  });
  logs.events.set(LOG, recorded);
  return BigInt(recorded.length);
}

const dump = async (): Promise<unknown> => {
  const rows = async (table: string, order: string) =>
    (await owner.query(`SELECT t::text FROM things.${table} t ORDER BY ${order}`)).rows;
  return { things: await rows('things', 'tenant_id, id'), changes: await rows('changes', 'id') };
};

/** The definition of a table, without its rows. */
const shape = async (): Promise<unknown> => {
  const { rows } = await owner.query(
    `SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relacl::text AS grants,
       array(SELECT indexdef FROM pg_indexes WHERE schemaname = 'things' AND tablename = c.relname ORDER BY 1) AS indexes,
       array(SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = c.oid ORDER BY 1) AS constraints,
       array(SELECT policyname || roles::text || coalesce(qual, '') || coalesce(with_check, '')
             FROM pg_policies WHERE schemaname = 'things' AND tablename = c.relname ORDER BY 1) AS policies,
       array(SELECT attname || format_type(atttypid, atttypmod) || attnotnull FROM pg_attribute
             WHERE attrelid = c.oid AND attnum > 0 ORDER BY attnum) AS columns
     FROM pg_class c WHERE c.oid IN ('things.things'::regclass, 'things.changes'::regclass) ORDER BY 1`,
  );
  return rows;
};

const rebuild = () =>
  rebuildProjection({
    connectionString: test.url,
    projection,
    schema: SCHEMA,
    store,
    open: async () => null,
    log: silentLogger,
  });

describe('a rebuilt projection', () => {
  it('R5 equals the live one in every row, and in all that is not a row', async () => {
    const head = recordAll();
    for (const wake of logs.listeners.get(LOG) ?? []) wake();
    expect(await things.positions.reached(['things'], head, WAIT_MS)).toBe(true);
    const [live, before] = [await dump(), await shape()];
    // Rows without an event show that the tables were replaced.
    await owner.query("DELETE FROM things.things WHERE id = '2'");
    await owner.query("INSERT INTO things.changes VALUES ('stray', 'stray')");
    expect(await dump()).not.toEqual(live);

    expect(await rebuild()).toEqual({ position: head, parkedStreams: 1 });
    expect(await dump()).toEqual(live);
    expect(await shape()).toEqual(before);
    expect(await parkedStreams(things.database, SCHEMA)).toHaveLength(1);
  });

  it('R5 goes on where the live one was, without missing what is written meanwhile', async () => {
    let running = true;
    let written = 0;
    const writer = (async () => {
      while (running) {
        written += 1;
        const said = event('ThingMade', { id: `meanwhile-${written}`, name: 'meanwhile' });
        await store.append([{ streamId: `thing-m${written}`, expected: 'any', events: [said] }]);
        await things.positions.reached(['things'], await store.head(LOG), WAIT_MS);
      }
    })();
    await rebuild();
    const atSwap = written;
    await untilTrue(() => written > atSwap + 5, { deadlineMs: WAIT_MS });
    running = false;
    await writer;
    const { rows } = await owner.query(
      "SELECT count(*)::int AS n FROM things.things WHERE name = 'meanwhile'",
    );
    expect(rows).toEqual([{ n: written }]);
  });

  it('R5 takes in what was parked, once the reason is mended', async () => {
    poisoned = false;
    expect(await rebuild()).toMatchObject({ parkedStreams: 0 });
    expect(await parkedStreams(things.database, SCHEMA)).toEqual([]);
    await untilTrue(() => things.degraded() === undefined);
  });

  it('leaves nothing behind when it fails', async () => {
    const failing = { ...store, readLog: () => Promise.reject(new Error('no log')) };
    const failed = rebuildProjection({
      connectionString: test.url,
      projection,
      schema: SCHEMA,
      store: failing,
      open: async () => null,
      log: silentLogger,
    });
    await expect(failed).rejects.toThrow('no log');
    const { rows } = await owner.query(
      "SELECT nspname FROM pg_namespace WHERE nspname LIKE '%rebuild%'",
    );
    expect(rows).toEqual([]);
  });
});

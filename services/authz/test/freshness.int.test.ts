import { authzService } from '@cardea/authz';
import type { EventStore } from '@cardea/event-store';
import type { ServiceDefinition } from '@cardea/service';
import {
  type FakeEventStore,
  type ServiceFixture,
  serviceFixture,
  startFakeEventStore,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, type FgaClient, inLanes } from './fga-client.ts';

const SECRETS = { JWT_SECRET: 'j'.repeat(40), ENCRYPTION_KEY: 'e0'.repeat(32) };
const KINDS = ['Postgres', 'EventStoreDB'] as const;
/**
 * Pairs of write and read per store. The fake EventStoreDB is slow, and the tested rule does not depend on the store.
 */
const PAIRS = { Postgres: 1_000, EventStoreDB: 200 };
const SLOW_PAIRS = 8;
const SLOW_MS = 1_000;

/** The service, with delayed reads of its log. */
function withSlowReads(isSlow: () => boolean): ServiceDefinition {
  const slow = (store: EventStore): EventStore => ({
    ...store,
    log: store.log,
    readLog: async (...asked) => {
      if (isSlow()) await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return store.readLog(...asked);
    },
  });
  return {
    ...authzService,
    build: (needs) => authzService.build({ ...needs, store: slow(needs.store) }),
  };
}

let isSlow = false;
let writer: ServiceFixture;
let other: ServiceFixture;
let standIn: FakeEventStore | undefined;

/** Starts two replicas with their log in this store. */
async function startOn(kind: (typeof KINDS)[number], databaseUrl: string): Promise<void> {
  if (kind === 'EventStoreDB') standIn = await startFakeEventStore();
  const env = standIn === undefined ? SECRETS : { ...SECRETS, EVENTSTORE_URL: standIn.url };
  const options = { databaseUrl, env };
  writer = await serviceFixture({ ...options, definitions: [withSlowReads(() => isSlow)] });
  other = await serviceFixture({ ...options, definitions: [authzService] });
}

async function stopAll(): Promise<void> {
  isSlow = false;
  await writer?.stop();
  await other?.stop();
  await standIn?.stop();
}

/** How often a check that a busy service refused is sent again. */
const ASKED_AGAIN_MAX = 10;

/** A 503 is no outdated answer, so the check is sent again. */
async function answerOf(fga: FgaClient, name: string): Promise<boolean> {
  for (let again = 0; again < ASKED_AGAIN_MAX; again++) {
    const { status, body } = await fga.check(name);
    if (status === 200) return body.allowed;
    expect(status).toBe(503);
  }
  throw new Error(`no answer in ${ASKED_AGAIN_MAX} attempts`);
}

/** Writes, checks, deletes and checks again. Returns the number of outdated answers. */
async function staleOf(fga: FgaClient, pairs: number, lanes: number): Promise<number> {
  let stale = 0;
  const names = Array.from({ length: pairs / 2 }, (_, at) => `user:ann viewer document:${at}`);
  await inLanes(lanes, names, async (name) => {
    expect((await fga.write(name)).status).toBe(201);
    if (!(await answerOf(fga, name))) stale++;
    expect((await fga.delete(name)).status).toBe(200);
    if (await answerOf(fga, name)) stale++;
  });
  return stale;
}

describe.each(KINDS)('reading what was written, its log in %s', (kind) => {
  const database = testDatabase();
  beforeAll(() => startOn(kind, database.url));
  afterAll(stopAll);

  it('authz 8 the process that wrote never answers from before', async () => {
    expect(await staleOf(adminOf(writer, 'calm'), PAIRS[kind], 16)).toBe(0);
  });

  it('authz 8 nor does it while its follower is a second behind', async () => {
    const fga = adminOf(writer, 'slow');
    await fga.write('user:ann viewer document:first');
    isSlow = true;
    try {
      expect(await staleOf(fga, SLOW_PAIRS, 4)).toBe(0);
    } finally {
      isSlow = false;
    }
  });

  it('R24 a write is answered in time and seen while the table stands still', async () => {
    const fga = adminOf(writer, 'paused');
    await fga.write('user:ann viewer document:before');
    await writer.shared.database.asSystem(async (sql) => {
      await sql.query('LOCK TABLE authz.tuple_counts IN EXCLUSIVE MODE');
      const started = performance.now();
      expect((await fga.write('user:ann viewer document:d')).status).toBe(201);
      // Two seconds of waiting, and additional time for a busy machine.
      expect(performance.now() - started).toBeLessThan(10_000);
      expect(await fga.allows('user:ann viewer document:d')).toBe(true);
      expect((await fga.list()).code).toBe('not_caught_up');
    });
    await untilTrue(async () => (await fga.list()).body.total === 2);
  });

  it('R24 a list shows what the same process wrote just before', async () => {
    const fga = adminOf(writer, 'lists');
    const names = Array.from({ length: 200 }, (_, at) => `user:ann viewer document:${at}`);
    await inLanes(8, names, async (name) => {
      const { body } = await fga.write(name);
      const listed = (await fga.list({ object_id: body.object_id })).body;
      expect(listed.tuples).toEqual([body]);
    });
  });

  it('R24 authz 9 another replica with the token sees the write, and its deletion', async () => {
    const [here, there] = [adminOf(writer, 'replicas'), adminOf(other, 'replicas')];
    const names = Array.from({ length: 200 }, (_, at) => `user:ann viewer document:${at}`);
    await inLanes(8, names, async (name) => {
      for (const change of ['write', 'delete'] as const) {
        const changed = await here[change](name);
        const token = changed.headers.get('x-service-consistency') ?? '';
        const headers = { 'x-service-consistency': token };
        const id = name.slice('user:ann viewer document:'.length);
        const body = {
          user_type: 'user',
          user_id: 'ann',
          relation: 'viewer',
          object_type: 'document',
        };
        const checked = await there.rest.post(
          '/api/v1/fga/check',
          { ...body, object_id: id },
          { headers },
        );
        const listed = await there.rest.get('/api/v1/fga/tuples', {
          query: { object_id: id },
          headers,
        });
        const stands = change === 'write';
        expect([checked.body.allowed, listed.body.total]).toEqual([stands, stands ? 1 : 0]);
      }
    });
  });

  it('authz 6 fifty equal writes on two replicas make one tuple', async () => {
    const clients = [adminOf(writer, 'two'), adminOf(other, 'two')];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => clients[at % 2]?.write('user:ann viewer document:d')),
    );
    expect(answers.map((answer) => answer?.status)).toEqual(Array(50).fill(201));
    expect(new Set(answers.map((answer) => answer?.body.id)).size).toBe(1);
  });
});

/** One tenant's model, tuples and questions must not noticeably slow down other tenants. */
import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, type FgaClient, type Fields, tuple } from './fga-client.ts';

const MODEL = '/api/v1/fga/model';
const BATCH = '/api/v1/fga/tuples/batch';
const BATCH_TUPLES = 100;
/** Folders in a row, each the parent of both its neighbours. The square of the number is above the budget. */
const FOLDERS = 1_000;
const AGAIN_MAX = 20;
const AGAIN_MS = 1_000;
const HOSTILE_CHECKS = 8;
const OTHER_CHECKS = 20;
const DRY_RUNS = 60;

/** All folders depend on each other, and no shortcut avoids the second condition. */
const RING = {
  user: {},
  folder: {
    relations: {
      parent: { direct: ['folder'] },
      live: { direct: ['user:*'] },
      viewer: {
        direct: ['user'],
        union: [{ from: 'parent', relation: 'viewer' }],
        intersect: ['live'],
      },
    },
  },
};

const database = testDatabase();
let fixture: ServiceFixture;
let hostile: FgaClient;
let other: FgaClient;

beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [authzService] });
  hostile = adminOf(fixture, 'hostile');
  other = adminOf(fixture, 'other');
  const published = await hostile.rest.put(MODEL, { expected_version: 0, types: RING });
  expect(published.status).toBe(200);
  const texts = ['user:ann viewer folder:0'];
  for (let at = 0; at < FOLDERS; at++) {
    texts.push(`user:* live folder:${at}`);
    // The neighbour above comes first, so a walk from the lowest folder reaches the end before it returns.
    if (at + 1 < FOLDERS) texts.push(`folder:${at + 1} parent folder:${at}`);
    if (at > 0) texts.push(`folder:${at - 1} parent folder:${at}`);
  }
  await writeAll(hostile, texts.map(tuple));
  expect((await other.write('user:ann viewer document:d')).status).toBe(201);
}, 120_000);
afterAll(() => fixture?.stop());

async function writeAll({ rest }: FgaClient, tuples: readonly Fields[]): Promise<void> {
  for (let at = 0; at < tuples.length; at += BATCH_TUPLES) {
    const writes = tuples.slice(at, at + BATCH_TUPLES);
    expect((await rest.post(BATCH, { writes })).status).toBe(200);
  }
}

const checkIn = (fga: FgaClient, text: string) => fga.rest.post('/api/v1/fga/check', tuple(text));

/** On a busy machine the queue of checks may be full. A refused client repeats its request. */
async function onceThereIsRoom(ask: () => ReturnType<typeof checkIn>) {
  for (let again = AGAIN_MAX; again > 0; again--) {
    const answer = await ask();
    if (answer.code !== 'overloaded') return answer;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  return ask();
}

describe('authz 4 a tenant whose model is hostile', () => {
  it('is told that its question is too large, while others get their answers', async () => {
    let open = HOSTILE_CHECKS;
    const asked = Array.from({ length: HOSTILE_CHECKS }, async () => {
      const answer = await onceThereIsRoom(() => checkIn(hostile, 'user:ann viewer folder:0'));
      open -= 1;
      return answer;
    });
    for (let at = 0; at < OTHER_CHECKS; at++) {
      const { status, body } = await checkIn(other, 'user:ann viewer document:d');
      expect([status, body.allowed]).toEqual([200, true]);
    }
    // All checks of the other tenants were answered before the last of these.
    expect(open).toBeGreaterThan(0);
    for (const { status, code, headers } of await Promise.all(asked)) {
      expect([status, code]).toEqual([503, 'evaluation_budget_exceeded']);
      expect(headers.get('retry-after')).toBe('1');
    }
  }, 120_000);
});

describe('authz 23 dry runs', () => {
  it('of one tenant are refused past its share, and not those of another', async () => {
    const dryRun = (fga: FgaClient) =>
      fga.rest.post('/api/v1/fga/dry-run', { writes: [tuple('user:bob viewer document:d')] });
    expect((await other.write('user:ann viewer document:e')).status).toBe(201);
    const third = adminOf(fixture, 'third');
    const many = Array.from({ length: DRY_RUNS }, () => dryRun(other));
    expect((await dryRun(third)).status).toBe(200);
    const answers = await Promise.all(many);
    const refused = answers.filter(({ status }) => status === 503);
    expect(answers.filter(({ status }) => status === 200).length).toBe(DRY_RUNS - refused.length);
    expect(refused.length).toBeGreaterThan(0);
    for (const { code, headers } of refused) {
      expect([code, headers.get('retry-after')]).toEqual(['overloaded', '1']);
    }
  });
});

/** Creates this number of relations, each a union of the one before, and objects that have them. */
async function chained(tenant: string, relations: number, objects: number): Promise<FgaClient> {
  const fga = adminOf(fixture, tenant);
  const rules: { [relation: string]: object } = { r0: { direct: ['user'] } };
  for (let at = 1; at < relations; at++) rules[`r${at}`] = { union: [`r${at - 1}`] };
  const types = { user: {}, doc: { relations: rules } };
  const published = await fga.rest.put(MODEL, { expected_version: 0, types });
  expect([published.status, published.code]).toEqual([200, undefined]);
  const texts = Array.from({ length: objects }, (_, at) => `user:u${at % 60} r0 doc:${at}`);
  await writeAll(fga, texts.map(tuple));
  return fga;
}
const DRY_RUN = '/api/v1/fga/dry-run';
const STOPPED_MS = 15_000;

describe('C2 a request that would compute for half an hour', () => {
  it('ends when its time is over, and answers in part where it can', async () => {
    const fga = await chained('long', 240, 600);
    const { status, body } = await fga.rest.post(DRY_RUN, {
      writes: [tuple('user:new r0 doc:1')],
    });
    expect([status, body.complete]).toEqual([200, false]);
  }, 120_000);

  it('ends when its client is gone', async () => {
    const fga = await chained('gone', 240, 600);
    const client = new AbortController();
    const body = { writes: [tuple('user:new r0 doc:1')] };
    const asked = fga.rest.post(DRY_RUN, body, { signal: client.signal });
    setTimeout(() => client.abort(), 300);
    await expect(asked).rejects.toThrow();
    const startMs = performance.now();
    await untilTrue(async () => {
      const before = performance.eventLoopUtilization();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return performance.eventLoopUtilization(before).utilization < 0.7;
    });
    expect(performance.now() - startMs).toBeLessThan(STOPPED_MS);
    expect((await fga.check('user:u1 r0 doc:1')).body.allowed).toBe(true);
  }, 120_000);
});

describe('C3 a list over as many relations as a model may have', () => {
  it('keeps to the memory of one question, and says that it is too large', async () => {
    const fga = await chained('wide', 500, 1_500);
    const { status, code, body } = await fga.listObjects('user:u1 r499 doc');
    if (status === 200) expect(body.total).toBe(25);
    else expect([status, code]).toEqual([503, 'evaluation_budget_exceeded']);
    const one = await fga.check('user:u1 r499 doc:1');
    expect([one.status, one.body.allowed]).toEqual([200, true]);
  }, 120_000);
});

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { authzService } from '@cardea/authz';
import { metrics, uuidFrom } from '@cardea/runtime';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, type Fields, inLanes, tuple } from './fga-client.ts';

const OBJECTS = 50_000;
const APPENDS = 250;

const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [authzService] });
});
afterAll(async () => {
  await fixture?.stop();
});

const answersFromTable = async (): Promise<number> =>
  (await metrics.tableAnswers.get()).values.reduce((sum, { value }) => sum + value, 0);

type Case = { name: string; tuples: Fields[]; checks: (Fields & { expect: boolean })[] };
const cases: Case[] = JSON.parse(
  readFileSync(new URL('data/fga-semantics-cases.json', import.meta.url), 'utf8'),
);

describe('authz 1 every row of the semantics table over HTTP', () => {
  it.each(cases)('$name', async ({ name, tuples, checks }) => {
    const fga = adminOf(fixture, name.replace('/', '-'));
    await inLanes(16, tuples, async (fields) => {
      expect((await fga.write(fields)).status).toBe(201);
    });
    for (const { expect: allowed, ...fields } of checks) {
      const { status, body } = await fga.check(fields);
      expect({ ...fields, status, allowed: body.allowed }).toEqual({
        ...fields,
        status: 200,
        allowed,
      });
    }
  });
});

describe('many at once', () => {
  it('authz 12 filter keeps order and duplicates, and agrees with single checks', async () => {
    const fga = adminOf(fixture, 'filter');
    await fga.write('user:ann member group:g');
    await fga.write('group:g viewer folder:f');
    for (const id of ['a', 'c']) await fga.write(`folder:f parent document:${id}`);
    await fga.write('user:ann viewer document:e');
    const ids = ['e', 'b', 'a', 'a', 'c', 'unknown', 'e'];
    const { body } = await fga.filter('user:ann viewer document', ids);
    expect(body).toEqual({
      allowed_ids: ['e', 'a', 'a', 'c', 'e'],
      total: 7,
      allowed: 5,
      denied: 2,
    });
    const single = await Promise.all(ids.map((id) => fga.allows(`user:ann viewer document:${id}`)));
    expect(ids.filter((_, at) => single[at])).toEqual(body.allowed_ids);
    expect((await fga.filter('user:ann viewer document', [])).body).toEqual({
      allowed_ids: [],
      total: 0,
      allowed: 0,
      denied: 0,
    });
    const many = Array.from({ length: 10_001 }, (_, at) => `d${at}`);
    expect((await fga.filter('user:ann viewer document', many.slice(1))).body.denied).toBe(10_000);
    expect((await fga.filter('user:ann viewer document', many)).status).toBe(400);
  });

  it('authz 13 list-objects gives exactly what checks allow, by bytes, in pages', async () => {
    const fga = adminOf(fixture, 'objects');
    const odd = ['\u{10000}', '\ue000', 'z', 'a', 'é'];
    for (const id of odd) await fga.write(tuple(`user:ann editor document:${id}`));
    await fga.write('user:* viewer document:m');
    await fga.write('user:bob viewer document:n');
    const { body } = await fga.listObjects('user:ann can_read document');
    expect(body).toEqual({ object_ids: ['a', 'm', 'z', 'é', '\ue000', '\u{10000}'], total: 6 });
    for (const id of [...odd, 'm', 'n', 'q']) {
      const allowed = await fga.allows(`user:ann can_read document:${id}`);
      expect(allowed).toBe(body.object_ids.includes(id));
    }
    const page = async (of: object) =>
      (await fga.listObjects('user:ann can_read document', of)).body;
    expect(await page({ limit: 0 })).toEqual({ object_ids: [], total: 6 });
    expect(await page({ limit: 2, offset: 1 })).toEqual({ object_ids: ['m', 'z'], total: 6 });
    expect(await page({ offset: 9 })).toEqual({ object_ids: [], total: 6 });
    expect((await fga.listObjects('user:ann can_read document', { limit: -1 })).status).toBe(400);
  });

  it('authz 13 a list of 50,000 is whole and in order, and checks get by meanwhile', async () => {
    const fga = adminOf(fixture, 'large');
    const { store, positions } = fixture.host.needsOf('authz');
    const metadata = { tenantId: 'large', actor: { type: 'system', id: 'test' } } as const;
    const time = new Date();
    let last = 0n;
    for (let start = 0; start < OBJECTS; start += APPENDS) {
      const outcomes = await store.append(
        Array.from({ length: APPENDS }, (_, at) => {
          const fields = tuple(`user:ann viewer document:${start + at}`);
          const data = {
            tuple_id: uuidFrom(`${start + at}`),
            ...fields,
            created_at: time.toJSON(),
          };
          const id = uuidFrom('large', `${start + at}`);
          const event = { id, type: 'TupleWritten', schemaVersion: 1, time, data, metadata };
          return { streamId: `tuple-${hash('sha256', id)}`, expected: 0, events: [event] };
        }),
      );
      for (const outcome of outcomes) if (outcome.appended) last = outcome.position;
    }
    expect(await positions.reached(['tuples'], last, 200_000)).toBe(true);
    // A tenant of this size is loaded while the table answers.
    await untilTrue(async () => {
      const before = await answersFromTable();
      await fga.check('user:ann viewer document:1');
      return (await answersFromTable()) === before;
    });

    let isListing = true;
    let between = 0;
    const listing = fga.listObjects('user:ann viewer document').finally(() => {
      isListing = false;
    });
    while (isListing) {
      expect((await fga.check('user:ann viewer document:1')).body).toMatchObject({ allowed: true });
      if (isListing) between++;
    }
    const { body } = await listing;
    expect(body.total).toBe(OBJECTS);
    expect(body.object_ids).toEqual(Array.from({ length: OBJECTS }, (_, at) => `${at}`).sort());
    expect(between).toBeGreaterThan(0);
  });
});

import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, type Fields, inLanes, tuple } from './fga-client.ts';

const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [authzService] });
});
afterAll(async () => {
  await fixture?.stop();
});

/** The events of one tenant in the authz log, oldest first. */
async function eventsOf(tenantId: string) {
  const { store } = fixture.host.needsOf('authz');
  const events = await store.readLog('authz', 0n, 100_000);
  return events.filter((event) => event.metadata.tenantId === tenantId);
}
const countOf = (events: readonly { type: string }[], type: string) =>
  events.filter((event) => event.type === type).length;

describe('writing and deleting tuples', () => {
  it('authz 6 fifty equal writes at once make one tuple and forty-nine notes of it', async () => {
    const fga = adminOf(fixture, 'equal-writes');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => fga.write('user:ann viewer document:d')),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.created_at)).size).toBe(1);
    const events = await eventsOf('equal-writes');
    expect(countOf(events, 'TupleWritten')).toBe(1);
    expect(countOf(events, 'TupleWriteRepeated')).toBe(49);
  });

  it('R11 of equal tuples written at once, twenty times over, each time one is made', async () => {
    const fga = adminOf(fixture, 'equal-tuples');
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => fga.write(`user:ann viewer document:${round}`)),
      );
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    }
    expect(countOf(await eventsOf('equal-tuples'), 'TupleWritten')).toBe(20);
  });

  it('authz 7 fifty mixed writes and deletes leave list, check and stream of one mind', async () => {
    const fga = adminOf(fixture, 'mixed');
    await fga.write('user:ann editor document:d');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        at % 2 === 0
          ? fga.write('user:ann viewer document:d')
          : fga.delete('user:ann viewer document:d'),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
    const last = (await eventsOf('mixed'))
      .filter(({ data }) => data['relation'] === 'viewer')
      .findLast(({ type }) => type === 'TupleWritten' || type === 'TupleDeleted');
    const stands = last?.type === 'TupleWritten';
    const listed = (await fga.list()).body.tuples.map(({ relation }: Fields) => relation);
    expect(listed.sort()).toEqual(stands ? ['editor', 'viewer'] : ['editor']);
    const { reason } = (await fga.check('user:ann viewer document:d')).body;
    expect(reason).toContain('user:ann editor document:d');

    await fga.delete('user:ann viewer document:d');
    const again = await fga.delete('user:ann viewer document:d');
    expect([again.status, again.body]).toEqual([200, { status: 'deleted' }]);
    expect(await fga.allows('user:ann editor document:d')).toBe(true);
  });

  it('a tuple that is written again is another and the youngest one', async () => {
    const fga = adminOf(fixture, 'again');
    const first = await fga.write('user:ann viewer document:1');
    await fga.write('user:ann viewer document:2');
    await fga.delete('user:ann viewer document:1');
    const second = await fga.write('user:ann viewer document:1');
    expect(second.body.id).not.toBe(first.body.id);
    const { body } = await fga.list();
    expect(body.tuples.map(({ object_id }: Fields) => object_id)).toEqual(['2', '1']);
    expect(body.tuples[1]).toEqual(second.body);
  });

  it('every answer carries a token, and a malformed one is refused', async () => {
    const fga = adminOf(fixture, 'tokens');
    const written = await fga.write('user:ann viewer document:d');
    const token = written.headers.get('x-service-consistency');
    for (const answer of [
      await fga.check('user:ann viewer document:d'),
      await fga.filter('user:ann viewer document', ['d']),
      await fga.listObjects('user:ann viewer document'),
      await fga.list(),
      await fga.delete('user:ann viewer document:d'),
    ]) {
      expect(answer.headers.get('x-service-consistency')).toMatch(/^authz-[0-9]+$/);
    }
    const ask = (value: string) =>
      fga.rest.post('/api/v1/fga/check', tuple('user:ann viewer document:d'), {
        headers: { 'x-service-consistency': value },
      });
    expect((await ask(`identity-99999999, ${token}`)).status).toBe(200);
    expect((await ask('nonsense')).code).toBe('invalid_consistency_token');
    expect((await ask('authz-999999999')).code).toBe('not_caught_up');
  });
});

describe('listing tuples', () => {
  it('authz 10 gives them in order of creation, each once, with the exact total', async () => {
    const fga = adminOf(fixture, 'paging');
    const names = Array.from({ length: 60 }, (_, at) => `user:u${at} viewer document:d${at % 3}`);
    await inLanes(8, names, async (name) => void (await fga.write(name)));
    const standing = new Set(names);
    const changes = Array.from({ length: 300 }, (_, at) => names[(at * 37) % names.length] ?? '');
    for (const name of changes) {
      if (standing.has(name)) await fga.delete(name);
      else await fga.write(name);
      if (!standing.delete(name)) standing.add(name);
    }
    const listed: string[] = [];
    for (let offset = 0; ; offset += 7) {
      const { body } = await fga.list({ limit: 7, offset });
      expect({ total: body.total, offset: body.offset, limit: body.limit }).toEqual({
        total: standing.size,
        offset,
        limit: 7,
      });
      if (body.tuples.length === 0) break;
      listed.push(
        ...body.tuples.map((t: Fields) => `user:${t.user_id} viewer document:${t.object_id}`),
      );
    }
    expect(listed).toHaveLength(standing.size);
    expect(new Set(listed)).toEqual(standing);
    const order = (await eventsOf('paging'))
      .filter(({ type }) => type === 'TupleWritten')
      .map(({ data }) => `user:${data['user_id']} viewer document:${data['object_id']}`);
    const newest = [...standing].sort((a, b) => order.lastIndexOf(a) - order.lastIndexOf(b));
    expect(listed).toEqual(newest);

    const one = await fga.list({ object_id: 'd1' });
    const both = await fga.list({ object_id: 'd1', object_type: 'document' });
    const expected = [...standing].filter((name) => name.endsWith(':d1')).length;
    expect([one.body.total, both.body.total]).toEqual([expected, expected]);
    expect((await fga.list({ object_type: 'folder' })).body).toMatchObject({
      tuples: [],
      total: 0,
    });
  });

  it.each(['0', '1001', '-1', 'x'])('authz 10 refuses a limit of %s', async (limit) => {
    const { status, body } = await adminOf(fixture, 'limits').list({ limit });
    expect([status, body.error.details[0].field]).toEqual([400, 'limit']);
  });
});

/** Questions that OpenFGA's users expect besides check, filter and lists: `docs/design/authz.md`, Further questions. */
import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, type FgaClient, type Fields, tuple } from './fga-client.ts';

const database = testDatabase();
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await serviceFixture({ databaseUrl: database.url, definitions: [authzService] });
});
afterAll(async () => {
  await fixture?.stop();
});

const CHECK = '/api/v1/fga/check';
const BATCH = '/api/v1/fga/tuples/batch';
const agentFor = { on_behalf_of: { user_type: 'user', user_id: 'ann' } };

async function tenantWith(name: string, ...tuples: string[]): Promise<FgaClient> {
  const fga = adminOf(fixture, name);
  for (const text of tuples) expect((await fga.write(text)).status).toBe(201);
  return fga;
}
const listUsers = (fga: FgaClient, body: object) => fga.rest.post('/api/v1/fga/list-users', body);
const change = (fga: FgaClient, body: object) => fga.rest.post(BATCH, body);

describe('authz 23 explain', () => {
  const explain = (fga: FgaClient, body: object) =>
    fga.rest.post(CHECK, body, { query: { explain: 'true' } });

  it('adds the tuples of the path as they were written', async () => {
    const fga = await tenantWith('explain', 'user:ann member group:g', 'group:g editor folder:f');
    const last = await fga.write('folder:f parent document:d');
    const { body } = await explain(fga, tuple('user:ann viewer document:d'));
    const { tuples } = (await fga.list()).body;
    expect(body).toEqual({
      allowed: true,
      reason:
        'user:ann member group:g > group:g editor folder:f > folder:f parent document:d (editor implies viewer)',
      path: tuples,
    });
    expect(body.path[2]).toEqual(last.body);
  });

  it('does not cut a path that the reason cuts', async () => {
    const steps = Array.from({ length: 20 }, (_, at) => `folder:${at + 1} parent folder:${at}`);
    const fga = await tenantWith('explain-long', 'user:ann viewer folder:20', ...steps);
    const { body } = await explain(fga, tuple('user:ann viewer folder:0'));
    expect(body.reason).toContain('(5 more)');
    expect(body.path).toHaveLength(21);
  });

  it('names the near miss, and nothing where there is none', async () => {
    const fga = await tenantWith('explain-denied', 'user:ann viewer document:d');
    const near = await explain(fga, tuple('user:ann editor document:d'));
    expect(near.body).toMatchObject({
      allowed: false,
      held: [tuple('user:ann viewer document:d')],
    });
    expect(near.body).not.toHaveProperty('path');
    const none = await explain(fga, tuple('user:bob editor document:d'));
    expect(none.body).toEqual({ allowed: false });
  });

  it('leaves an answer as it is without the parameter, and refuses another value', async () => {
    const fga = await tenantWith('explain-off', 'user:ann viewer document:d');
    const asked = tuple('user:ann viewer document:d');
    const plain = await fga.check(asked);
    const off = await fga.rest.post(CHECK, asked, { query: { explain: 'false' } });
    expect(off.body).toEqual(plain.body);
    expect(Object.keys(plain.body)).toEqual(['allowed', 'reason']);
    expect((await fga.rest.post(CHECK, asked, { query: { explain: 'much' } })).status).toBe(400);
  });
});

describe('authz 23 batch check', () => {
  const check = (fga: FgaClient, checks: readonly object[]) =>
    fga.rest.post(`${CHECK}/batch`, { checks });

  it('answers as single checks do, in their order and at one position', async () => {
    const fga = await tenantWith('batch', 'user:ann editor document:d');
    const asked = ['user:ann viewer document:d', 'user:bob viewer document:d'].map(tuple);
    const { body, headers } = await check(fga, [...asked, ...asked]);
    const single = await Promise.all(asked.map(async (fields) => (await fga.check(fields)).body));
    expect(body).toEqual({ results: [...single, ...single] });
    expect(headers.get('x-service-consistency')).toMatch(/^authz-\d+$/);
  });

  it('takes 1 to 100 checks, and refuses all where one is malformed', async () => {
    const fga = await tenantWith('batch-limits');
    const one = tuple('user:ann viewer document:d');
    expect((await check(fga, [])).status).toBe(400);
    expect((await check(fga, new Array(100).fill(one))).body.results).toHaveLength(100);
    expect((await check(fga, new Array(101).fill(one))).status).toBe(400);
    const bad = await check(fga, [one, { ...one, relation: 'friend' }]);
    expect(bad.body.error.details).toEqual([{ field: 'checks.1.relation', rule: 'enum' }]);
  });
});

describe('authz 23 on behalf of', () => {
  it('allows what both are allowed, never what one of them is', async () => {
    const fga = await tenantWith(
      'behalf',
      'agent:bot viewer document:both',
      'user:ann editor document:both',
      'agent:bot viewer document:bot',
      'user:ann viewer document:ann',
    );
    const check = (object: string) =>
      fga.rest.post(CHECK, { ...tuple(`agent:bot viewer document:${object}`), ...agentFor });
    expect((await check('both')).body).toEqual({
      allowed: true,
      reason:
        'agent:bot viewer document:both AND user:ann editor document:both (editor implies viewer)',
    });
    expect((await check('bot')).body).toEqual({ allowed: false });
    expect((await check('ann')).body).toEqual({ allowed: false });
    const asked = { user_type: 'agent', user_id: 'bot', relation: 'viewer', ...agentFor };
    const filter = await fga.rest.post('/api/v1/fga/filter', {
      ...asked,
      object_type: 'document',
      object_ids: ['ann', 'both', 'bot', 'both'],
    });
    expect(filter.body).toEqual({ allowed_ids: ['both', 'both'], total: 4, allowed: 2, denied: 2 });
    const list = await fga.rest.post('/api/v1/fga/list-objects', {
      ...asked,
      object_type: 'document',
    });
    expect(list.body).toEqual({ object_ids: ['both'], total: 1 });
  });

  it('says of a denial which of the two it is that lacks the relation, the agent first', async () => {
    const fga = await tenantWith(
      'behalf-denied',
      'agent:bot viewer document:d',
      'user:ann can_read document:d',
    );
    const check = (relation: string) =>
      fga.rest.post(CHECK, { ...tuple(`agent:bot ${relation} document:d`), ...agentFor });
    expect((await check('editor')).body.reason).toBe('agent:bot: held: viewer; needed: editor');
    expect((await check('viewer')).body.reason).toBe('user:ann: held: can_read; needed: viewer');
  });

  it('explains both paths, one after the other', async () => {
    const both = ['agent:bot viewer document:d', 'user:ann owner document:d'];
    const fga = await tenantWith('behalf-explained', ...both);
    const asked = { ...tuple('agent:bot viewer document:d'), ...agentFor };
    const { body } = await fga.rest.post(CHECK, asked, { query: { explain: 'true' } });
    expect(body.path).toMatchObject(both.map(tuple));
  });
});

describe('authz 23 list-users', () => {
  it('lists whoever a check allows, by bytes and in pages, and tells of a wildcard', async () => {
    const fga = await tenantWith(
      'users',
      'user:ann member group:g',
      'group:g member group:all',
      'group:all viewer folder:f',
      'folder:f parent document:d',
      'user:é editor document:d',
      'user:\ue000 owner folder:f',
      'agent:bot viewer document:d',
      'user:bob viewer document:other',
    );
    const asked = { object_type: 'document', object_id: 'd', relation: 'viewer' };
    const users = { ...asked, user_type: 'user' };
    const ids = ['ann', 'é', '\ue000'];
    expect((await listUsers(fga, users)).body).toEqual({
      user_ids: ids,
      total: 3,
      wildcard: false,
    });
    for (const id of [...ids, 'bob', 'unknown']) {
      expect(await fga.allows(tuple(`user:${id} viewer document:d`))).toBe(ids.includes(id));
    }
    const page = await listUsers(fga, { ...users, limit: 1, offset: 1 });
    expect(page.body).toEqual({ user_ids: ['é'], total: 3, wildcard: false });
    expect((await listUsers(fga, { ...asked, user_type: 'group' })).body.user_ids).toEqual([
      'all',
      'g',
    ]);
    await fga.write('user:* member group:g');
    const open = (await listUsers(fga, users)).body;
    expect(open).toEqual({ user_ids: ids, total: 3, wildcard: true });
    expect(await fga.allows('user:unknown viewer document:d')).toBe(true);
    expect((await listUsers(fga, { ...asked, user_type: 'agent' })).body).toEqual({
      user_ids: ['bot'],
      total: 1,
      wildcard: false,
    });
  });
});

describe('authz 23 batch of changes', () => {
  const changed = (at: number): Fields => tuple(`user:u${at} viewer document:d`);

  it('writes and deletes each tuple by itself, and repeats without effect', async () => {
    const stood = changed(2);
    const fga = await tenantWith(
      'changes',
      'user:u2 viewer document:d',
      'user:u3 viewer document:d',
    );
    const body = { writes: [changed(1), stood], deletes: [changed(3), changed(4)] };
    const first = await change(fga, body);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({
      written: [
        { status: 'created', tuple: changed(1) },
        { status: 'existed', tuple: stood },
      ],
      deleted: [{ status: 'deleted' }, { status: 'absent' }],
    });
    const { tuples, total } = (await fga.list()).body;
    expect(total).toBe(2);
    expect(first.body.written.map(({ tuple: one }: { tuple: object }) => one)).toEqual(
      tuples.toReversed(),
    );
    expect(await fga.allows(changed(1))).toBe(true);
    expect(await fga.allows(changed(3))).toBe(false);
    const again = await change(fga, body);
    expect(again.body.written[0]).toEqual({ ...first.body.written[0], status: 'existed' });
    expect(again.body.deleted).toEqual([{ status: 'absent' }, { status: 'absent' }]);
  });

  it('records each change and each repeat', async () => {
    const fga = await tenantWith('changes-recorded', 'user:u2 viewer document:d');
    await change(fga, { writes: [changed(1), changed(2)], deletes: [changed(3)] });
    const { store } = fixture.host.needsOf('authz');
    const all = await store.readLog('authz', 0n, 10_000);
    const own = all.filter(({ metadata }) => metadata.tenantId === 'changes-recorded').slice(1);
    expect(own.map(({ type }) => type).toSorted()).toEqual([
      'TupleDeleteRepeated',
      'TupleWriteRepeated',
      'TupleWritten',
    ]);
  });

  it('stores nothing where anything is wrong', async () => {
    const fga = await tenantWith('changes-refused');
    const detailsOf = async (body: object) => {
      const answer = await change(fga, body);
      expect(answer.status).toBe(400);
      return answer.body.error.details;
    };
    expect(await detailsOf({})).toEqual([{ field: 'body', rule: 'min_items' }]);
    expect(await detailsOf({ writes: [changed(1)], deletes: [changed(1)] })).toEqual([
      { field: 'deletes.0', rule: 'repeated' },
    ]);
    expect(await detailsOf({ writes: [changed(1), { ...changed(2), user_id: '' }] })).toEqual([
      { field: 'writes.1.user_id', rule: 'min_length', limit: 1 },
    ]);
    const many = Array.from({ length: 60 }, (_, at) => changed(at));
    const others = Array.from({ length: 41 }, (_, at) => changed(at + 60));
    expect(await detailsOf({ writes: many, deletes: others })).toEqual([
      { field: 'body', rule: 'max_items' },
    ]);
    expect((await fga.list()).body.total).toBe(0);
  });

  it('lets many batches that meet on the same tuples all be answered', async () => {
    const fga = await tenantWith('changes-at-once');
    const writes = Array.from({ length: 20 }, (_, at) => changed(at));
    const answers = await Promise.all(Array.from({ length: 10 }, () => change(fga, { writes })));
    expect(answers.map(({ status }) => status)).toEqual(new Array(10).fill(200));
    const created = answers.flatMap(({ body }) =>
      body.written.filter(({ status }: { status?: string }) => status === 'created'),
    );
    expect(created).toHaveLength(20);
    expect((await fga.list()).body.total).toBe(20);
  });

  it('takes no member and no key that may only read', async () => {
    const { tokens, rest } = fixture;
    const tenantId = 'changes-weak';
    const body = { writes: [changed(1)] };
    const member = tokens.user({ tenantId, id: 'm', roles: [] });
    const reader = tokens.apiKey({ tenantId, scopes: ['fga:read'] });
    for (const bearer of [member, reader]) {
      expect((await rest.as({ tenant: tenantId, bearer }).post(BATCH, body)).status).toBe(403);
    }
  });
});

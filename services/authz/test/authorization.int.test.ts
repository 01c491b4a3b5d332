import { authzService } from '@cardea/authz';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, fgaClient, tuple } from './fga-client.ts';

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
describe('bad input', () => {
  const good = tuple('user:ann viewer document:d');
  const { user_id: _, ...missing } = good;
  it.each([
    { fault: 'a field missing', body: missing, field: 'user_id' },
    { fault: 'an empty field', body: { ...good, user_id: '' }, field: 'user_id' },
    { fault: 'a number', body: { ...good, object_id: 7 }, field: 'object_id' },
    { fault: 'a long type', body: { ...good, user_type: 'é'.repeat(129) }, field: 'user_type' },
    { fault: 'a long id', body: { ...good, object_id: 'é'.repeat(513) }, field: 'object_id' },
    { fault: 'a control character', body: { ...good, user_id: 'a\u007fb' }, field: 'user_id' },
    { fault: 'a line break', body: { ...good, user_id: 'ann\n' }, field: 'user_id' },
    { fault: 'an unknown field', body: { ...good, tenant_id: 'x-other' }, field: 'body' },
    { fault: 'an unknown relation', body: { ...good, relation: 'boss' }, field: 'relation' },
  ])('authz 11 $fault answers 400 that names the field and never the value', async (row) => {
    const fga = adminOf(fixture, 'faults');
    for (const answer of [
      await fga.rest.post('/api/v1/fga/tuples', row.body),
      await fga.rest.delete('/api/v1/fga/tuples', { body: row.body }),
      await fga.rest.post('/api/v1/fga/check', row.body),
    ]) {
      expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
      expect(answer.body.error.details[0].field).toBe(row.field);
      expect(answer.text).not.toMatch(/boss|x-other|éé/);
    }
  });

  it('authz 11 nothing is written on every object; a check of it is false', async () => {
    const fga = adminOf(fixture, 'everything');
    for (const text of ['user:ann viewer document:*', 'user:* parent document:d']) {
      const [written, deleted] = [await fga.write(text), await fga.delete(text)];
      expect([written.status, deleted.status]).toEqual([400, 400]);
      expect(await fga.allows(text)).toBe(false);
    }
  });

  it('ids are taken byte by byte, whatever they look like', async () => {
    const fga = adminOf(fixture, 'odd-ids');
    const odd = { ...good, user_id: ' a:b#c@d/e ', object_id: '\u{10000}"\\u0041' };
    expect((await fga.write(odd)).status).toBe(201);
    expect(await fga.allows(odd)).toBe(true);
    expect(await fga.allows({ ...odd, user_id: 'a:b#c@d/e' })).toBe(false);
    expect((await fga.list({ object_id: odd.object_id })).body.tuples).toHaveLength(1);
  });
});

describe('who may', () => {
  const fields = tuple('user:ann viewer document:d');
  const calls = [
    { what: 'write', path: 'tuples', method: 'POST', writes: true },
    { what: 'delete', path: 'tuples', method: 'DELETE', writes: true },
    { what: 'check', path: 'check', method: 'POST', writes: false },
  ];
  const as = (bearer: string | undefined, tenant: string | undefined = 'who') =>
    fixture.rest.as({ bearer, tenant });

  it.each(calls)('authz 14 $what asks for the right credential', async (call) => {
    const ask = async (bearer: string | undefined, tenant?: string) => {
      const answer = await as(bearer, tenant).call(call.method, `/api/v1/fga/${call.path}`, {
        body: fields,
      });
      return `${answer.status} ${answer.code ?? ''}`;
    };
    const { tokens } = fixture;
    const ok = call.what === 'write' ? '201 ' : '200 ';
    const mine = { tenantId: 'who', id: 'someone' };
    expect(await ask(undefined)).toBe('401 unauthenticated');
    expect(await ask(tokens.agentKey(mine).key)).toBe('401 unauthenticated');
    expect(await ask(tokens.user({ ...mine, roles: ['admin'] }), 'other')).toBe(
      '403 tenant_mismatch',
    );
    expect(await ask(tokens.user({ ...mine, roles: ['admin'] }))).toBe(ok);
    expect(await ask(tokens.user(mine))).toBe(call.writes ? '403 forbidden' : ok);
    const agent = tokens.agent({ ...mine, sessionId: 's', userId: 'boss' });
    expect(await ask(agent)).toBe(call.writes ? '403 forbidden' : ok);
    const right = call.writes ? 'fga:write' : 'fga:read';
    const wrong = call.writes ? 'fga:read' : 'fga:write';
    const key = (tenantId: string, scope: string) => tokens.apiKey({ tenantId, scopes: [scope] });
    expect(await ask(key('who', right))).toBe(ok);
    expect(await ask(key('other', right))).toBe('403 tenant_mismatch');
    expect(await ask(key('who', wrong))).toBe('403 insufficient_scope');
  });

  it('authz 14 names the missing scope and keeps the refusal', async () => {
    const key = fixture.tokens.apiKey({ tenantId: 'scopes', scopes: ['fga:read'] });
    const client = fgaClient(as(key, 'scopes'));
    const { body } = await client.write(fields);
    expect(body.error.details).toEqual({ scope: 'fga:write' });
    expect(body.error.message).toContain('fga:write');
    const denied = await untilTrue(async () =>
      (await eventsOf('scopes')).find(({ type }) => type === 'ActionDenied'),
    );
    expect(denied.streamId).toMatch(/^attempt-/);
    expect(denied.data).toMatchObject({
      area: 'fga',
      operation: 'write_tuple',
      reason: 'insufficient_scope',
      status: 403,
    });
  });

  it('authz 15 one tenant sees and changes nothing of another', async () => {
    const [one, two] = [adminOf(fixture, 'tenant-one'), adminOf(fixture, 'tenant-two')];
    for (const fga of [one, two]) await fga.write(fields);
    await one.delete(fields);
    expect([await one.allows(fields), await two.allows(fields)]).toEqual([false, true]);
    expect((await one.list()).body.total).toBe(0);
    expect((await two.list()).body.total).toBe(1);

    const { database: tables } = fixture.shared;
    const unfiltered = await tables.asTenant('tenant-two', (sql) =>
      sql.query<{ tenant_id: string }>('SELECT DISTINCT tenant_id FROM authz.tuples'),
    );
    expect(unfiltered.rows).toEqual([{ tenant_id: 'tenant-two' }]);
  });
});

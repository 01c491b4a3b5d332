/** Services, secrets and policies as administrators manage them. */
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  heard,
  newTenant,
  sessionData,
  startSession,
  type VaultFixture,
  vaultFixture,
} from './fixture.ts';

const database = testDatabase();
let fixture: VaultFixture;
beforeAll(async () => {
  fixture = await vaultFixture(database.url);
});
afterAll(async () => {
  await fixture?.stop();
});

const SERVICES = '/api/v1/vault/services';
const POLICIES = '/api/v1/vault/approval-policies';
const fields = [{ name: 'user' }, { name: 'password', description: 'of the database' }];
const service = (more: object = {}) => ({
  name: 'db',
  credential_type: 'static',
  fields,
  ...more,
});
const terms = {
  name: 'ask',
  service_name: 'db',
  fields: ['password'],
  agent_ids: '*',
  effect: 'require_approval',
};
const blobsOf = async (tenantId: string) => {
  const { rows } = await fixture.shared.database.system.query<{ version: number }>(
    'SELECT version FROM vault.secret_versions WHERE tenant_id = $1 AND blob IS NOT NULL ORDER BY version',
    [tenantId],
  );
  return rows.map(({ version }) => version);
};

describe('services', () => {
  it('are registered once per name, listed and shown without a value', async () => {
    const tenantId = newTenant();
    const admin = fixture.admin(tenantId);
    const made = await admin.post(SERVICES, service());
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        name: 'db',
        default_ttl_seconds: 900,
        max_ttl_seconds: 3600,
        enabled: true,
        reveal: false,
        fields: [{ name: 'user', set: false, version: null }, { description: 'of the database' }],
      },
    ]);
    const again = await admin.post(SERVICES, service());
    expect([again.status, again.code]).toEqual([409, 'service_exists']);
    await fixture.put(tenantId, { user: 'marked-value' });
    const [one, all] = await Promise.all([admin.get(`${SERVICES}/db`), admin.get(SERVICES)]);
    expect(one.body.fields[0]).toMatchObject({ set: true, version: 1 });
    expect(all.body).toEqual({ services: [one.body], total: 1, offset: 0, limit: 50 });
    expect(one.text + all.text).not.toContain('marked-value');
    expect((await fixture.admin(newTenant()).get(`${SERVICES}/db`)).code).toBe('service_not_found');
  });

  it('R11 fifty parallel registrations of one name make one', async () => {
    const admin = fixture.admin(newTenant());
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => admin.post(SERVICES, service())),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array(49).fill(409)]);
  });

  it('meet their repeat under the same Idempotency-Key', async () => {
    const admin = fixture.admin(newTenant());
    const headers = { 'idempotency-key': 'once' };
    const first = await admin.post(SERVICES, service(), { headers });
    const second = await admin.post(SERVICES, service(), { headers });
    expect([second.status, second.body]).toEqual([201, first.body]);
    const other = await admin.post(SERVICES, service({ enabled: false }), { headers });
    expect([other.status, other.code]).toEqual([422, 'idempotency_key_reused']);
  });

  it.each([
    [{ credential_type: 'oauth2' }, 'unsupported_credential_type'],
    [{ credential_type: 'dynamic', config: { host: 'x' } }, 'unsupported_credential_type'],
    [{ name: 'Db' }, 'invalid_request'],
    [{ fields: [] }, 'invalid_request'],
    [{ fields: [{ name: 'a' }, { name: 'a' }] }, 'invalid_request'],
    [{ default_ttl_seconds: 600, max_ttl_seconds: 300 }, 'invalid_request'],
    [{ default_ttl_seconds: 29 }, 'invalid_request'],
    [{ other: 1 }, 'invalid_request'],
  ])('are refused with %o: %s', async (more, code) => {
    const answer = await fixture.admin(newTenant()).post(SERVICES, service(more));
    expect([answer.status, answer.code]).toEqual([400, code]);
  });

  it('are for admins and keys with the scope, never for agents', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const as = (bearer: string) => fixture.rest.as({ bearer, tenant: tenantId });
    const member = as(fixture.tokens.user({ tenantId, id: 'bob' }));
    const agent = as(fixture.tokens.agent({ tenantId, id: 'a', sessionId: 's', userId: 'admin' }));
    const reader = as(fixture.tokens.apiKey({ tenantId, scopes: ['vault:read'] }));
    const writer = as(fixture.tokens.apiKey({ tenantId, scopes: ['vault:write'] }));
    const put = { fields: { user: 'x' } };
    expect((await member.get(SERVICES)).code).toBe('forbidden');
    expect((await agent.get(SERVICES)).code).toBe('forbidden');
    expect((await reader.get(SERVICES)).status).toBe(200);
    expect((await reader.put(`${SERVICES}/db/secrets`, put)).code).toBe('insufficient_scope');
    expect((await writer.put(`${SERVICES}/db/secrets`, put)).status).toBe(200);
  });

  it('lose the values of a field that is left out', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const changed = await fixture
      .admin(tenantId)
      .patch(`${SERVICES}/db`, { fields: [{ name: 'user' }] });
    expect(changed.body.fields.map(({ name }: { name: string }) => name)).toEqual(['user']);
    expect(await blobsOf(tenantId)).toEqual([1]);
  });
});

describe('secrets', () => {
  it('vault 16 of two writers that expect the same version one is refused', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const expected = { expected_versions: { user: 1 } };
    const answers = await Promise.all([
      fixture.put(tenantId, { user: 'one' }, expected),
      fixture.put(tenantId, { user: 'two' }, expected),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)?.code).toBe('version_conflict');
    expect(answers.find(({ status }) => status === 200)?.body).toEqual({
      service_name: 'db',
      fields: [{ name: 'user', version: 2, stage: 'current' }],
    });
  });

  it('vault 16 refuses a value that is too large, an empty one and an unknown field, and stores nothing', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const before = await blobsOf(tenantId);
    const large = 'x'.repeat(64 * 1024 + 1);
    const codes = [
      await fixture.put(tenantId, { user: large }),
      await fixture.put(tenantId, { user: '' }),
      await fixture.put(tenantId, {}),
      await fixture.put(tenantId, { user: 'marked-value', nothing: 'x' }),
    ].map(({ status, code }) => [status, code]);
    expect(codes).toEqual([
      [400, 'invalid_request'],
      [400, 'invalid_request'],
      [400, 'invalid_request'],
      [400, 'unknown_field'],
    ]);
    expect(await blobsOf(tenantId)).toEqual(before);
    expect((await fixture.put(tenantId, { user: large.slice(1) })).status).toBe(200);
  });

  it('writes that meet are encrypted again, and each gets a version of its own', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, at) => fixture.put(tenantId, { user: `value ${at}` })),
    );
    expect(answers.map(({ body }) => body.fields[0].version).sort()).toEqual([2, 3, 4, 5]);
  });

  it('keep twenty versions and destroy the oldest for the next one', async () => {
    const tenantId = newTenant();
    await fixture.admin(tenantId).post(SERVICES, service());
    for (let at = 0; at < 21; at += 1) await fixture.put(tenantId, { user: `value ${at}` });
    expect(await blobsOf(tenantId)).toEqual(Array.from({ length: 20 }, (_, at) => at + 2));
    const destroyed = (await fixture.eventsOf(tenantId)).filter(
      ({ type }) => type === 'SecretVersionDestroyed',
    );
    expect(destroyed.map(({ data }) => data['version'])).toEqual([1]);
  });

  it('vault 15 are unreadable for ever once their tenant is deleted', async () => {
    const tenantId = newTenant();
    await fixture.keep(tenantId);
    const data = { id: tenantId, deleted_at: new Date().toISOString() };
    const streamId = `tenant-${tenantId}`;
    await fixture.publish({ source: 'identity', type: 'tenant.deleted', tenantId, streamId, data });
    const key = await untilTrue(async () => {
      const { rows } = await fixture.shared.database.system.query<{ wrapped: Buffer | null }>(
        `SELECT wrapped FROM vault.tenant_keys WHERE tenant_id = $1 AND state = 'shredded'`,
        [tenantId],
      );
      return rows[0];
    });
    expect(key.wrapped).toBeNull();
    await untilTrue(async () => (await blobsOf(tenantId)).length === 0);
    expect((await fixture.session({ tenantId }).vend()).status).toBe(404);
  });

  it('vault 15 stay gone when a session ends after its tenant was deleted', async () => {
    const tenantId = newTenant();
    const at = new Date().toISOString();
    const session = { sessionId: `s-${tenantId}`, agentId: 'bot' };
    const of = {
      source: 'identity' as const,
      tenantId,
      streamId: `agent_session-${session.sessionId}`,
    };
    const known = () =>
      fixture.shared.database.system.query<{ ended: boolean }>(
        'SELECT ended_at IS NOT NULL AS ended FROM vault.agent_sessions WHERE tenant_id = $1',
        [tenantId],
      );
    const ended = { ...sessionData(session), reason: 'ended', ended_at: at };
    await startSession(fixture, tenantId, session);
    await fixture.publish({ ...of, type: 'agent_session.ended', data: ended });
    await untilTrue(async () => (await known()).rows[0]?.ended);
    const deleted = { id: tenantId, deleted_at: at };
    await fixture.publish({ ...of, type: 'tenant.deleted', data: deleted });
    await fixture.publish({ ...of, type: 'agent_session.ended', data: ended });
    // Later records of the same lane are applied after them.
    const renewed = { ...sessionData({ ...session, sessionId: 'other' }), user_id: null };
    await fixture.publish({ ...of, type: 'agent_session.renewed', data: renewed });
    await heard(fixture, 'agent_sessions', `tenant_id = $1 AND session_id = 'other'`, [tenantId]);
    expect((await known()).rows).toHaveLength(1);
  });
});

describe('approval policies', () => {
  it('are made, listed, changed to a new version, and removed', async () => {
    const admin = fixture.admin(newTenant());
    const made = await admin.post(POLICIES, terms);
    expect(made.body).toMatchObject({
      ...terms,
      version: 1,
      approver: 'session_user',
      severity: 'medium',
    });
    const path = `${POLICIES}/${made.body.id}`;
    expect((await admin.get(path)).body).toEqual(made.body);
    const changed = await admin.patch(path, { severity: 'high' });
    expect(changed.body).toMatchObject({ version: 2, severity: 'high' });
    expect((await admin.get(POLICIES)).body).toMatchObject({ total: 1, policies: [changed.body] });
    expect((await admin.delete(path)).body).toEqual({ status: 'policy deleted' });
    expect((await admin.get(path)).code).toBe('policy_not_found');
    expect((await admin.delete(path)).code).toBe('policy_not_found');
  });

  it('tell what they would say to a request', async () => {
    const admin = fixture.admin(newTenant());
    const { body: policy } = await admin.post(POLICIES, terms);
    const ask = (asked: readonly string[]) =>
      admin.post(`${POLICIES}/evaluate`, { agent_id: 'a', service_name: 'db', fields: asked });
    expect((await ask(['user'])).body).toEqual({
      effect: 'allow',
      matched: [],
      approver: null,
      severity: null,
      needed: null,
      escalate: null,
      ttl_seconds: null,
      holders: null,
    });
    expect((await ask(['user', 'password'])).body).toEqual({
      effect: 'require_approval',
      matched: [{ id: policy.id, version: 1 }],
      approver: 'session_user',
      severity: 'medium',
      needed: 1,
      escalate: null,
      ttl_seconds: 300,
      holders: null,
    });
  });
});

import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf, type IdentityRig, identityRig } from './identity-rig.ts';

const database = testDatabase();
let rig: IdentityRig;
let ann: Account;
let count = 0;
beforeAll(async () => {
  rig = await identityRig(database.url);
  ann = await rig.signUp();
});
afterAll(async () => {
  await rig?.stop();
});

const WAREHOUSE = { service_name: 'warehouse', fields: ['username', 'password'] };
const reach = (...fields: string[]) => [{ service_name: 'warehouse', fields }];
const admin = () => rig.as(ann);
const withKey = (bearer: string) => rig.rest.as({ bearer, tenant: ann.tenantId });

async function newAgent(services: readonly object[] = [WAREHOUSE]) {
  count += 1;
  const made = await admin().post('/api/v1/agents', { name: `agent ${count}`, services });
  expect(made).toMatchObject({ status: 201, body: { status: 'active' } });
  const { id } = made.body;
  const key = await admin().post(`/api/v1/agents/${id}/keys`, { name: 'ci' });
  expect(key.status).toBe(201);
  return { id, key: key.body.key, keyId: key.body.id, as: withKey(key.body.key) };
}

async function newSession(agent: { as: ReturnType<typeof withKey> }, more: object = {}) {
  const body = { services: reach('username', 'password'), ...more };
  const made = await agent.as.post('/api/v1/agent/sessions', body);
  expect(made.text).toContain('capability_token');
  return made.body.data;
}

const typesSince = async (position: bigint) =>
  (await rig.eventsSince(position)).map(({ type }) => type);

describe('an API key', () => {
  it('reaches as far as its scopes, and is shown once', async () => {
    const made = await admin().post('/api/v1/api-keys', { name: 'ops', scopes: ['users:read'] });
    expect(made.status).toBe(201);
    const { key, id, prefix } = made.body;
    expect(key.startsWith(prefix)).toBe(true);
    const backend = withKey(key);
    expect((await backend.get('/api/v1/admin/users')).status).toBe(200);
    const body = { email: 'x@example.com' };
    expect(await backend.post('/api/v1/admin/users', body)).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_scope', details: { scope: 'users:write' } } },
    });
    const list = await admin().get('/api/v1/api-keys');
    expect(list.text).not.toContain(key);
    expect(list.body.api_keys.map((each: { id: string }) => each.id)).toContain(id);
    const other = await rig.signUp('zoe');
    const foreign = rig.rest.as({ bearer: key, tenant: other.tenantId });
    expect((await foreign.get('/api/v1/admin/users')).code).toBe('tenant_mismatch');
  });

  it('is refused for scopes that there are not, for ends that have passed, and to members', async () => {
    const post = (body: object) => admin().post('/api/v1/api-keys', { name: 'n', ...body });
    expect((await post({ scopes: ['fga:all'] })).code).toBe('invalid_scope');
    const past = { scopes: ['fga:read'], expires_at: '2001-01-01T00:00:00Z' };
    expect((await post(past)).code).toBe('invalid_request');
    const bob = rig.as(await rig.register(ann.tenantId));
    expect((await bob.post('/api/v1/api-keys', { name: 'n', scopes: ['fga:read'] })).status).toBe(
      403,
    );
  });

  it('identity 13 keeps its old secret for the grace alone, and none without grace', async () => {
    const made = await admin().post('/api/v1/api-keys', { name: 'r', scopes: ['users:read'] });
    const { id, key: first } = made.body;
    const works = async (key: string) => (await withKey(key).get('/api/v1/admin/users')).status;
    expect(await works(first)).toBe(200);
    const path = `/api/v1/api-keys/${id}/rotate`;
    const second = (await admin().post(path, { grace_seconds: 600 })).body.key;
    expect([await works(first), await works(second)]).toEqual([200, 200]);
    rig.clock.move(601_000);
    expect([await works(first), await works(second)]).toEqual([401, 200]);
    const third = (await admin().post(path)).body.key;
    expect([await works(second), await works(third)]).toEqual([401, 200]);
    rig.clock.move(-601_000);
  });

  it('identity 13 is refused on the very next call once it is revoked', async () => {
    const made = await admin().post('/api/v1/api-keys', { name: 'v', scopes: ['users:read'] });
    const backend = withKey(made.body.key);
    expect((await backend.get('/api/v1/admin/users')).status).toBe(200);
    const path = `/api/v1/api-keys/${made.body.id}`;
    expect((await admin().delete(path)).body).toEqual({ status: 'revoked' });
    expect((await backend.get('/api/v1/admin/users')).status).toBe(401);
    const other = rig.as(await rig.signUp('eve'));
    expect((await other.delete(path)).status).toBe(404);
    expect((await other.delete('/api/v1/api-keys/unknown1')).status).toBe(404);
  });

  it('R11 is made once under one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'make it once' };
    const body = { name: 'once', scopes: ['fga:read'] };
    const first = await admin().post('/api/v1/api-keys', body, { headers });
    expect(first.status).toBe(201);
    expect(await admin().post('/api/v1/api-keys', body, { headers })).toMatchObject({
      status: 409,
      body: { error: { code: 'already_created', details: { id: first.body.id } } },
    });
    const another = await admin().post('/api/v1/api-keys', { ...body, name: 'x' }, { headers });
    expect(another).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  });
});

describe('an agent', () => {
  it('has a name of its own in its tenant until it is deleted', async () => {
    const post = (name: string) => admin().post('/api/v1/agents', { name });
    const first = await post('Deployer');
    expect(first.status).toBe(201);
    expect((await post(' deployer')).code).toBe('agent_exists');
    const path = `/api/v1/agents/${first.body.id}`;
    expect((await admin().patch(path, { name: 'Builder' })).body.name).toBe('Builder');
    expect((await post('deployer')).status).toBe(201);
    expect((await post('builder')).code).toBe('agent_exists');
    expect((await admin().delete(path)).body).toEqual({ status: 'agent deleted' });
    expect((await admin().get(path)).status).toBe(404);
    expect((await post('builder')).status).toBe(201);
    const { body } = await admin().get('/api/v1/agents');
    expect(body.agents.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['builder', 'deployer']),
    );
  });

  it('opens a session on behalf of a user whose token it shows', async () => {
    const agent = await newAgent();
    const bob = await rig.register(ann.tenantId);
    const session = await newSession(agent, { subject_token: bob.access, purpose: 'deploy' });
    expect(session).toMatchObject({ agent_id: agent.id, user_id: bob.userId, status: 'active' });
    expect(claimsOf(session.capability_token)).toMatchObject({
      sub: bob.userId,
      act: { sub: agent.id },
      asid: session.id,
      cap: [{ s: 'warehouse', f: ['username', 'password'] }],
      cnf: { akid: agent.keyId },
      ver: 0,
      purpose: 'deploy',
    });
    const own = withKey(session.agent_token);
    const seen = await own.get(`/api/v1/agent/sessions/${session.id}`);
    expect(seen.body.data).toMatchObject({ id: session.id, purpose: 'deploy' });
    expect((await own.get('/api/v1/user/profile')).code).toBe('user_session_required');
    expect((await rig.as(bob).get('/api/v1/agent/sessions')).body.data.total).toBe(1);
    expect((await rig.as(bob).get('/api/v1/me/agents')).body.agents[0].id).toBe(agent.id);
    const eve = rig.as(await rig.register(ann.tenantId, 'eve'));
    expect((await eve.get(`/api/v1/agent/sessions/${session.id}`)).status).toBe(404);
    expect((await eve.delete(`/api/v1/agent/sessions/${session.id}`)).status).toBe(404);
    const ended = await agent.as.delete(`/api/v1/agent/sessions/${session.id}`);
    expect(ended.body).toEqual({ data: { status: 'ended' } });
    expect((await own.get('/api/v1/agent/sessions')).status).toBe(401);
    const more = await agent.as.post(`/api/v1/agent/sessions/${session.id}/tokens`);
    expect(more).toMatchObject({ status: 410, code: 'session_ended' });
  });

  it('identity 14 gets no session wider than its grant, its delegation or the session before', async () => {
    const agent = await newAgent([{ service_name: 'warehouse', fields: ['*'] }]);
    const bob = await rig.register(ann.tenantId);
    const start = (body: object) => agent.as.post('/api/v1/agent/sessions', body);
    const wide = await start({ services: [{ service_name: 'payroll', fields: ['token'] }] });
    expect(wide).toMatchObject({ status: 403, code: 'scope_not_granted' });
    expect(wide.body.error.details.missing).toEqual([
      { service_name: 'payroll', fields: ['token'] },
    ]);
    const onBehalf = { services: reach('password'), user_id: bob.userId };
    expect((await start(onBehalf)).code).toBe('delegation_required');
    const given = { agent_id: agent.id, services: reach('username', 'region') };
    expect((await rig.as(bob).post('/api/v1/me/delegations', given)).status).toBe(201);
    expect((await start(onBehalf)).body.error.details.missing).toEqual(reach('password'));
    const session = await newSession(agent, {
      services: reach('username', 'region'),
      user_id: bob.userId,
    });
    const more = `/api/v1/agent/sessions/${session.id}/tokens`;
    const narrower = await agent.as.post(more, { services: reach('region'), ttl_seconds: 60 });
    expect(claimsOf(narrower.body.data.capability_token)).toMatchObject({
      ver: 1,
      cap: [{ s: 'warehouse', f: ['region'] }],
      pjti: claimsOf(session.capability_token).jti,
    });
    expect(narrower.body.data.expires_in).toBe(60);
    const back = await agent.as.post(more, { services: reach('username') });
    expect(back).toMatchObject({ status: 403, code: 'attenuation_only' });
  });

  it('identity 14 is refused on the next issue once it is suspended, its user disabled, its delegation withdrawn', async () => {
    const bob = await rig.register(ann.tenantId);
    const agent = await newAgent();
    const given = await rig.as(bob).post('/api/v1/me/delegations', {
      agent_id: agent.id,
      services: reach('*'),
    });
    const session = await newSession(agent, { user_id: bob.userId });
    const ofBob = rig.as(bob);
    await ofBob.delete(`/api/v1/me/delegations/${given.body.id}`);
    const more = await agent.as.post(`/api/v1/agent/sessions/${session.id}/tokens`);
    expect(['delegation_required', 'session_ended']).toContain(more.code);
    expect((await withKey(session.agent_token).get('/api/v1/agent/sessions')).status).toBe(401);

    const own = await newSession(agent);
    const path = `/api/v1/agents/${agent.id}`;
    expect((await admin().patch(path, { status: 'suspended' })).body.status).toBe('suspended');
    const body = { services: reach('username') };
    expect((await agent.as.post('/api/v1/agent/sessions', body)).code).toBe('invalid_agent_key');
    expect((await withKey(own.agent_token).get('/api/v1/agent/sessions')).status).toBe(401);
    await untilTrue(
      async () => {
        const { body: shown } = await admin().get(`/api/v1/agent/sessions/${own.id}`);
        return shown.data.status === 'ended';
      },
      { what: 'the end of the session' },
    );
    await admin().patch(path, { status: 'active' });
    expect((await agent.as.post('/api/v1/agent/sessions', body)).status).toBe(201);

    const behalf = { services: reach('username'), subject_token: bob.access };
    expect((await agent.as.post('/api/v1/agent/sessions', behalf)).status).toBe(201);
    await admin().patch(`/api/v1/admin/users/${bob.userId}`, { status: 'disabled' });
    expect((await agent.as.post('/api/v1/agent/sessions', behalf)).code).toBe(
      'invalid_subject_token',
    );
    const delegated = { services: reach('username'), user_id: bob.userId };
    expect((await agent.as.post('/api/v1/agent/sessions', delegated)).code).toBe('user_inactive');
  });

  it('identity 14 cannot pass an agent token off as a user', async () => {
    const agent = await newAgent();
    const bob = await rig.register(ann.tenantId);
    const session = await newSession(agent, { subject_token: bob.access });
    for (const subject_token of [session.agent_token, session.capability_token, agent.key]) {
      const body = { services: reach('username'), subject_token };
      const refused = await agent.as.post('/api/v1/agent/sessions', body);
      expect(refused).toMatchObject({ status: 400, code: 'invalid_subject_token' });
    }
    const byUser = await rig.as(bob).post('/api/v1/agent/sessions', { services: reach('x') });
    expect(byUser).toMatchObject({ status: 401, code: 'invalid_agent_key' });
  });

  it('loses its sessions when they run out, and tells so once', async () => {
    const agent = await newAgent();
    const before = await rig.head();
    const session = await newSession(agent, { ttl_seconds: 60 });
    rig.clock.move(61_000);
    await untilTrue(async () => (await typesSince(before)).includes('AgentSessionEnded'), {
      what: 'the sweeper',
      deadlineMs: 30_000,
    });
    const shown = await agent.as.get(`/api/v1/agent/sessions/${session.id}`);
    expect(shown.body.data.status).toBe('ended');
    rig.clock.move(-61_000);
  });

  it('identity 16 leaves no key and no token in the log', async () => {
    const agent = await newAgent();
    const session = await newSession(agent);
    const rotated = await admin().post(`/api/v1/agents/${agent.id}/keys/${agent.keyId}/rotate`, {
      overlap_seconds: 60,
    });
    const secret = (key: string) => key.slice(-49, -6);
    const events = JSON.stringify((await rig.eventsSince(0n)).map(({ data }) => data));
    const logged = rig.lines.join('\n');
    for (const clear of [
      secret(agent.key),
      secret(rotated.body.key),
      session.agent_token,
      session.capability_token,
    ]) {
      expect(events.includes(clear) || logged.includes(clear)).toBe(false);
    }
  });
});

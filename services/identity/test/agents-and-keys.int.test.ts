import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { agentsAndKeysFixture, reach, WAREHOUSE } from './agents-and-keys-fixture.ts';

const { fixture, ann, admin, withKey, newAgent, newSession } = agentsAndKeysFixture();

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
    await untilTrue(
      async () => {
        const { body: now } = await admin().get('/api/v1/api-keys');
        return now.api_keys.find((each: { id: string }) => each.id === id).last_used_at !== null;
      },
      { what: 'the use of the key to be noted' },
    );
    const other = await fixture().signUp('zoe');
    const foreign = fixture().rest.as({ bearer: key, tenant: other.tenantId });
    expect((await foreign.get('/api/v1/admin/users')).code).toBe('tenant_mismatch');
  });

  it('is refused for scopes that there are not, for ends that have passed, and to members', async () => {
    const post = (body: object) => admin().post('/api/v1/api-keys', { name: 'n', ...body });
    expect((await post({ scopes: ['fga:all'] })).code).toBe('invalid_scope');
    const past = { scopes: ['fga:read'], expires_at: '2001-01-01T00:00:00Z' };
    expect((await post(past)).code).toBe('invalid_request');
    const bob = fixture().as(await fixture().register(ann().tenantId));
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
    fixture().clock.move(601_000);
    expect([await works(first), await works(second)]).toEqual([401, 200]);
    const later = fixture().as(await fixture().signInAgain(ann()));
    const third = (await later.post(path)).body.key;
    expect([await works(second), await works(third)]).toEqual([401, 200]);
    fixture().clock.move(-601_000);
  });

  it('identity 13 is refused on the very next call once it is revoked', async () => {
    const made = await admin().post('/api/v1/api-keys', { name: 'v', scopes: ['users:read'] });
    const backend = withKey(made.body.key);
    expect((await backend.get('/api/v1/admin/users')).status).toBe(200);
    const path = `/api/v1/api-keys/${made.body.id}`;
    expect((await admin().delete(path)).body).toEqual({ status: 'revoked' });
    expect((await backend.get('/api/v1/admin/users')).status).toBe(401);
    const other = fixture().as(await fixture().signUp('eve'));
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
  it('has approvers whom administrators name: users of the tenant, and sets by their text', async () => {
    const approvers = [ann().userId, 'role:admin', 'team:payments#approver'];
    const post = (body: object) => admin().post('/api/v1/agents', body);
    const made = await post({ name: 'asks others', approvers });
    expect(made.body.approvers).toEqual(approvers);
    const path = `/api/v1/agents/${made.body.id}`;
    expect((await admin().get(path)).body.approvers).toEqual(approvers);
    const { body } = await admin().get('/api/v1/agents');
    const listed = body.agents.find(({ id }: { id: string }) => id === made.body.id);
    expect(listed.approvers).toEqual(approvers);
    expect((await post({ name: 'asks nobody' })).body.approvers).toEqual([]);
    for (const wrong of ['nobody', 'role:', 'team:payments']) {
      expect(await admin().patch(path, { approvers: [wrong] })).toMatchObject({
        status: 400,
        body: { error: { details: [{ field: 'approvers', rule: 'known' }] } },
      });
    }
    const many = Array.from({ length: 11 }, (_, at) => `role:r${at}`);
    expect((await admin().patch(path, { approvers: many })).status).toBe(400);
    expect((await admin().patch(path, { approvers: [] })).body.approvers).toEqual([]);
    const told = await untilTrue(async () => {
      const { rows } = await fixture().shared.database.asSystem((sql) =>
        sql.query<{ data: object }>(
          `SELECT value -> 'data' AS data FROM bus.records
           WHERE topic = 'cardea.identity.events.v1' AND value ->> 'type' = 'agent.updated'
             AND value -> 'data' ->> 'id' = $1`,
          [made.body.id],
        ),
      );
      return rows[0]?.data;
    });
    expect(told).toMatchObject({ approvers: [], changed: ['approvers'] });
  });
  it('R11 is made once under one Idempotency-Key, and its sessions likewise', async () => {
    const headers = { 'idempotency-key': 'one agent' };
    const body = { name: 'only one', services: [WAREHOUSE] };
    const first = await admin().post('/api/v1/agents', body, { headers });
    const again = await admin().post('/api/v1/agents', body, { headers });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    const other = await admin().post('/api/v1/agents', { ...body, name: 'two' }, { headers });
    expect(other).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
    expect((await admin().post('/api/v1/agents', { name: 'two' })).status).toBe(201);

    const agent = await newAgent();
    const start = (fields: string[]) =>
      agent.as.post('/api/v1/agent/sessions', { services: reach(...fields) }, { headers });
    const session = await start(['username']);
    expect(await start(['username'])).toMatchObject({
      status: 409,
      body: { error: { code: 'already_created', details: { id: session.body.data.id } } },
    });
    expect((await start(['password'])).status).toBe(422);
  });
  it('comes from the networks alone that its key allows', async () => {
    const agent = await newAgent();
    const keys = `/api/v1/agents/${agent.id}/keys`;
    const keyFor = async (...allowed_cidrs: string[]) =>
      withKey((await admin().post(keys, { name: 'n', allowed_cidrs })).body.key);
    const body = { services: reach('username') };
    const start = (driver: typeof agent.as) => driver.post('/api/v1/agent/sessions', body);
    expect((await start(await keyFor('127.0.0.0/8'))).status).toBe(201);
    expect((await start(await keyFor('10.0.0.0/8'))).code).toBe('invalid_agent_key');
    const bad = await admin().post(keys, { name: 'n', allowed_cidrs: ['10.0.0.0/99'] });
    expect(bad.code).toBe('invalid_request');
  });
  it('identity 13 cannot use a key that is revoked, nor one of a deleted agent', async () => {
    const agent = await newAgent();
    const session = await newSession(agent);
    const keys = `/api/v1/agents/${agent.id}/keys`;
    const second = (await admin().post(keys, { name: 'second' })).body;
    expect((await admin().get(keys)).body.keys).toHaveLength(2);
    const revoked = await admin().delete(`${keys}/${agent.keyId}`);
    expect(revoked.body).toEqual({ status: 'agent key revoked' });
    const body = { services: reach('username') };
    expect((await agent.as.post('/api/v1/agent/sessions', body)).code).toBe('invalid_agent_key');
    const other = withKey(second.key);
    await untilTrue(
      async () => {
        const seen = await other.get(`/api/v1/agent/sessions/${session.id}`);
        return seen.body.data.status === 'ended';
      },
      { what: 'the end of the session of a revoked key' },
    );
    expect((await other.post('/api/v1/agent/sessions', body)).status).toBe(201);
    await admin().delete(`/api/v1/agents/${agent.id}`);
    expect((await other.post('/api/v1/agent/sessions', body)).code).toBe('invalid_agent_key');
    expect((await admin().get(keys)).status).toBe(404);
  });
  it('identity 13 is unknown to every other tenant, with its keys, sessions and delegations', async () => {
    const agent = await newAgent();
    const session = await newSession(agent);
    const zoe = await fixture().signUp('zoe');
    const path = `/api/v1/agents/${agent.id}`;
    const key = `${path}/keys/${agent.keyId}`;
    const sessionPath = `/api/v1/agent/sessions/${session.id}`;
    const asked = [
      ['GET', path],
      ['PATCH', path, { status: 'suspended' }],
      ['DELETE', path],
      ['GET', `${path}/keys`],
      ['POST', `${path}/keys`, { name: 'mine now' }],
      ['POST', `${key}/rotate`, {}],
      ['DELETE', key],
      ['GET', sessionPath],
      ['DELETE', sessionPath],
      ['POST', '/api/v1/me/delegations', { agent_id: agent.id, services: reach('*') }],
    ] as const;
    for (const [method, url, body] of asked) {
      const refused = await fixture()
        .as(zoe)
        .call(method, url, body === undefined ? {} : { body });
      expect([method, url, refused.status, refused.code]).toEqual([method, url, 404, 'not_found']);
    }
    expect((await fixture().as(zoe).get('/api/v1/agents')).body.total).toBe(0);
    expect((await agent.as.get(sessionPath)).body.data.status).toBe('active');
    const bob = await fixture().register(ann().tenantId);
    const grant = { agent_id: agent.id, services: reach('*') };
    const given = await fixture().as(bob).post('/api/v1/me/delegations', grant);
    const withdrawal = `/api/v1/me/delegations/${given.body.id}`;
    const eve = await fixture().register(ann().tenantId, 'eve');
    for (const other of [zoe, eve]) {
      expect((await fixture().as(other).delete(withdrawal)).status).toBe(404);
    }
    expect((await fixture().as(bob).get('/api/v1/me/delegations')).body.total).toBe(1);
    expect((await fixture().as(bob).delete(withdrawal)).body.status).toBe('delegation withdrawn');
  });

  it('is told to the others, event by event', async () => {
    const agent = await newAgent();
    const bob = await fixture().register(ann().tenantId);
    const given = await fixture()
      .as(bob)
      .post('/api/v1/me/delegations', { agent_id: agent.id, services: reach('*') });
    const session = await newSession(agent, { user_id: bob.userId });
    await agent.as.post(`/api/v1/agent/sessions/${session.id}/tokens`);
    await admin().post(`/api/v1/agents/${agent.id}/keys/${agent.keyId}/rotate`);
    await fixture().as(bob).delete(`/api/v1/me/delegations/${given.body.id}`);
    const path = `/api/v1/agents/${agent.id}`;
    await admin().patch(path, { status: 'suspended', description: 'rests' });
    await admin().patch(path, { status: 'active' });
    await admin().delete(path);
    const told = async () => {
      const { rows } = await fixture().shared.database.asSystem((sql) =>
        sql.query<{ type: string }>(
          `SELECT DISTINCT value ->> 'type' AS type FROM bus.records
           WHERE topic = 'cardea.identity.events.v1' AND value::text LIKE $1`,
          [`%${agent.id}%`],
        ),
      );
      return rows.map(({ type }) => type).sort();
    };
    const all = [
      'agent.created',
      'agent.deleted',
      'agent.resumed',
      'agent.suspended',
      'agent.updated',
      'agent_key.created',
      'agent_key.rotated',
      'agent_session.ended',
      'agent_session.renewed',
      'agent_session.started',
      'delegation.granted',
      'delegation.withdrawn',
    ];
    // A policy publishes the end of a session, after its cause.
    await untilTrue(
      async () => {
        const now = await told();
        return all.every((type) => now.includes(type));
      },
      { what: 'the relay' },
    );
    expect(await told()).toEqual(all);
  });
});

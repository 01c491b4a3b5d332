import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { agentsAndKeysFixture, reach } from './agents-and-keys-fixture.ts';
import { claimsOf } from './identity-fixture.ts';

const { fixture, ann, admin, withKey, newAgent, newSession } = agentsAndKeysFixture();

const typesSince = async (position: bigint) =>
  (await fixture().eventsSince(position)).map(({ type }) => type);

describe('an agent session', () => {
  it('opens on behalf of a user whose token it shows', async () => {
    const agent = await newAgent();
    const bob = await fixture().register(ann().tenantId);
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
    expect((await fixture().as(bob).get('/api/v1/agent/sessions')).body.data.total).toBe(1);
    expect((await fixture().as(bob).get('/api/v1/me/agents')).body.agents[0].id).toBe(agent.id);
    const eve = fixture().as(await fixture().register(ann().tenantId, 'eve'));
    expect((await eve.get(`/api/v1/agent/sessions/${session.id}`)).status).toBe(404);
    expect((await eve.delete(`/api/v1/agent/sessions/${session.id}`)).status).toBe(404);
    const ended = await agent.as.delete(`/api/v1/agent/sessions/${session.id}`);
    expect(ended.body).toEqual({ data: { status: 'ended' } });
    expect((await own.get('/api/v1/agent/sessions')).status).toBe(401);
    const more = await agent.as.post(`/api/v1/agent/sessions/${session.id}/tokens`);
    expect(more).toMatchObject({ status: 410, code: 'session_ended' });
  });
  it('opens without a service for an agent that only asks for approvals, and is renewed', async () => {
    const agent = await newAgent([]);
    const start = (body: object) => agent.as.post('/api/v1/agent/sessions', body);
    expect((await start({ services: [] })).status).toBe(201);
    const { status, body } = await start({});
    expect(status).toBe(201);
    expect(claimsOf(body.data.capability_token)).toMatchObject({ cap: [] });
    const renewed = await agent.as.post(`/api/v1/agent/sessions/${body.data.id}/tokens`);
    expect(renewed.status).toBe(201);
  });
  it('for a user whom nobody is, by an id of any form, is refused', async () => {
    const agent = await newAgent();
    const start = (user_id: string) =>
      agent.as.post('/api/v1/agent/sessions', { services: reach('region'), user_id });
    const nobody = { status: 403, code: 'user_inactive' };
    expect(await start('01a1ff78-5d3c-7b7e-9c3e-6f2d1b0a4c55')).toMatchObject(nobody);
    expect(await start('nobody')).toMatchObject(nobody);
    expect(await start('(\u00cc\u{a6150}')).toMatchObject(nobody);
  });
  it('identity 14 is no wider than grant, delegation and the session before', async () => {
    const agent = await newAgent([{ service_name: 'warehouse', fields: ['*'] }]);
    const bob = await fixture().register(ann().tenantId);
    const start = (body: object) => agent.as.post('/api/v1/agent/sessions', body);
    const wide = await start({ services: [{ service_name: 'payroll', fields: ['token'] }] });
    expect(wide).toMatchObject({ status: 403, code: 'scope_not_granted' });
    expect(wide.body.error.details.missing).toEqual([
      { service_name: 'payroll', fields: ['token'] },
    ]);
    const onBehalf = { services: reach('password'), user_id: bob.userId };
    expect((await start(onBehalf)).code).toBe('delegation_required');
    const given = { agent_id: agent.id, services: reach('username', 'region') };
    expect((await fixture().as(bob).post('/api/v1/me/delegations', given)).status).toBe(201);
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
  it('identity 14 gets no more tokens once its agent is suspended, its user disabled, its delegation withdrawn', async () => {
    const bob = await fixture().register(ann().tenantId);
    const agent = await newAgent();
    const given = await fixture()
      .as(bob)
      .post('/api/v1/me/delegations', {
        agent_id: agent.id,
        services: reach('*'),
      });
    const session = await newSession(agent, { user_id: bob.userId });
    const ofBob = fixture().as(bob);
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
  it('identity 14 is not opened for an agent token that is passed off as a user', async () => {
    const agent = await newAgent();
    const bob = await fixture().register(ann().tenantId);
    const session = await newSession(agent, { subject_token: bob.access });
    const grant = { agent_id: agent.id, services: reach('username') };
    const self = await withKey(session.agent_token).post('/api/v1/me/delegations', grant);
    expect(self).toMatchObject({ status: 401, code: 'user_session_required' });
    for (const subject_token of [session.agent_token, session.capability_token, agent.key]) {
      const body = { services: reach('username'), subject_token };
      const refused = await agent.as.post('/api/v1/agent/sessions', body);
      expect(refused).toMatchObject({ status: 400, code: 'invalid_subject_token' });
    }
    const byUser = await fixture()
      .as(bob)
      .post('/api/v1/agent/sessions', { services: reach('x') });
    expect(byUser).toMatchObject({ status: 401, code: 'invalid_agent_key' });
  });
  it('ends when it runs out, and the others hear of it', async () => {
    const agent = await newAgent();
    const before = await fixture().head();
    const session = await newSession(agent, { ttl_seconds: 60 });
    fixture().clock.move(61_000);
    await untilTrue(async () => (await typesSince(before)).includes('AgentSessionEnded'), {
      what: 'the sweeper',
    });
    await untilTrue(async () => {
      const shown = await agent.as.get(`/api/v1/agent/sessions/${session.id}`);
      return shown.body.data.status === 'ended';
    });
    fixture().clock.move(-61_000);
  });
  it('is asked for 120 times a minute by one agent, and no more', async () => {
    const agent = await newAgent();
    const body = { services: reach('nothing of the kind') };
    const bad = { services: reach('region'), ttl_seconds: 60 };
    const codes = await Promise.all(
      Array.from({ length: 130 }, () => agent.as.post('/api/v1/agent/sessions', bad)),
    );
    expect(codes.filter(({ code }) => code === 'scope_not_granted')).toHaveLength(120);
    const limited = codes.filter(({ code }) => code === 'rate_limited');
    expect(limited).toHaveLength(10);
    expect(limited[0]?.headers.get('retry-after')).toMatch(/^[1-9]/);
    expect((await agent.as.post('/api/v1/agent/sessions', body)).code).toBe('invalid_request');
  });
  it('identity 13 stays ended when the cache has lost every mark', async () => {
    const agent = await newAgent();
    const session = await newSession(agent);
    await agent.as.delete(`/api/v1/agent/sessions/${session.id}`);
    const made = await admin().post('/api/v1/api-keys', { name: 'l', scopes: ['users:read'] });
    await admin().delete(`/api/v1/api-keys/${made.body.id}`);
    const { cache } = fixture().shared;
    const keys = [`rev:asid:${session.id}`, `rev:key:${made.body.id}`];
    for (const key of [...keys, 'rev:generation']) await cache.delete(key);
    await untilTrue(async () => (await cache.getMany(keys)).every((mark) => mark !== undefined), {
      what: 'the marks to be back',
    });
  });
  it('identity 16 leaves no key and no token in the log', async () => {
    const agent = await newAgent();
    const session = await newSession(agent);
    const rotated = await admin().post(`/api/v1/agents/${agent.id}/keys/${agent.keyId}/rotate`, {
      overlap_seconds: 60,
    });
    const secret = (key: string) => key.slice(-49, -6);
    const events = JSON.stringify((await fixture().eventsSince(0n)).map(({ data }) => data));
    const logged = fixture().lines.join('\n');
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

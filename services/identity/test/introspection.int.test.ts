import { createHmac } from 'node:crypto';
import { generateSigningKey, signer } from '@cardea/auth';
import { internalBearers } from '@cardea/service';
import { testDatabase } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { claimsOf, identityFixture, identityOfFile } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const INACTIVE = '{"active":false}';
const PATH = '/oauth2/introspect';
const ask = (token: string, headers: { [name: string]: string } = {}) =>
  fixture.rest.post(PATH, { token }, { headers });
const service = () => {
  const { derive } = fixture.host.needsOf('identity');
  return {
    authorization: `Bearer ${internalBearers({ derive }, ['identity'], 'vault').to('identity')[0]}`,
  };
};

async function agentKey() {
  const rest = fixture.as(admin);
  const agent = await rest.post('/api/v1/agents', {
    name: `agent ${Math.random()}`,
    services: [{ service_name: 'billing', fields: ['*'] }],
  });
  const key = await rest.post(`/api/v1/agents/${agent.body.id}/keys`, { name: 'one' });
  expect(key.status).toBe(201);
  return { agentId: agent.body.id as string, ...key.body } as {
    agentId: string;
    id: string;
    key: string;
  };
}
const apiKey = async (scopes: readonly string[]) =>
  (await fixture.as(admin).post('/api/v1/api-keys', { name: 'one', scopes })).body;

describe('introspection', () => {
  it('oauth 7 shows a login token as the contract says, also when it is asked by a form', async () => {
    const { access, userId, tenantId, email } = admin;
    const form = await fetch(`${fixture.baseUrl}${PATH}`, {
      method: 'POST',
      body: new URLSearchParams({ token: access, token_type_hint: 'access_token' }),
    });
    const expected = {
      active: true,
      token_type: 'Bearer',
      sub: userId,
      tid: tenantId,
      tenant_id: tenantId,
      email,
      roles: ['owner', 'admin'],
      sid: claimsOf(access).sid,
    };
    expect(await form.json()).toMatchObject(expected);
    expect((await ask(access)).body).toMatchObject(expected);
  });

  it('oauth 7 shows a current refresh token, and uses nothing up', async () => {
    const { refresh } = await fixture.register(admin.tenantId);
    const shown = { active: true, token_type: 'refresh_token', tid: admin.tenantId };
    expect((await ask(refresh)).body).toMatchObject(shown);
    const next = await fixture.refresh(refresh);
    expect(next.status).toBe(200);
    expect((await ask(refresh)).text).toBe(INACTIVE);
    expect((await ask(next.body.refresh_token)).body).toMatchObject(shown);
  });

  it('oauth 7 shows keys of backends and agents, and networks to services alone', async () => {
    const { key, id } = await apiKey(['fga:read', 'users:read']);
    expect((await ask(key)).body).toMatchObject({
      active: true,
      token_type: 'api_key',
      sub: id,
      scope: 'fga:read users:read',
      tid: admin.tenantId,
    });
    const agent = await agentKey();
    const shown = { token_type: 'agent_key', sub: agent.agentId, akid: agent.id };
    const open = await ask(agent.key);
    expect(open.body).toMatchObject(shown);
    expect(open.body.allowed_cidrs).toBeUndefined();
    expect((await ask(agent.key, service())).body).toMatchObject({ ...shown, allowed_cidrs: [] });
  });

  it('oauth 7 8 shows tokens of an agent session until it ends', async () => {
    const { key, agentId } = await agentKey();
    const call = { bearer: key, tenant: admin.tenantId };
    const services = [{ service_name: 'billing', fields: ['api_key'] }];
    const { body } = await fixture.rest.post('/api/v1/agent/sessions', { services }, call);
    const { data } = body;
    expect((await ask(data.agent_token)).body).toMatchObject({
      active: true,
      token_type: 'Bearer',
      agent_id: agentId,
      agent_session_id: data.id,
      act: { sub: agentId },
    });
    expect((await ask(data.capability_token)).body).toMatchObject({
      active: true,
      token_type: 'agent_capability',
      asid: data.id,
      cap: [{ s: 'billing', f: ['api_key'] }],
    });
    await fixture.rest.delete(`/api/v1/agent/sessions/${data.id}`, call);
    expect((await ask(data.agent_token)).text).toBe(INACTIVE);
    expect((await ask(data.capability_token)).text).toBe(INACTIVE);
  });

  it('oauth 7 says the same of everything that is not live', async () => {
    const { access, refresh } = admin;
    const [header = '', payload = '', signature = ''] = access.split('.');
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { keys } = (await fixture.rest.get('/.well-known/jwks.json')).body;
    const mac = (head: string) =>
      createHmac('sha256', keys[0].x).update(`${head}.${payload}`).digest('base64url');
    const hs256 = encoded({ alg: 'HS256', typ: 'at+jwt', kid: keys[0].kid });
    const other = signer({ active: () => generateSigningKey() });
    const forms = [
      'garbage',
      'rt_garbage',
      'svc_live_garbage',
      `${header}.${payload}.${'A'.repeat(signature.length)}`,
      `${encoded({ alg: 'none', typ: 'at+jwt', kid: keys[0].kid })}.${payload}.`,
      `${hs256}.${payload}.${mac(hs256)}`,
      other('at+jwt', claimsOf(access)),
      other('JWT', claimsOf(access)),
      `${refresh}x`,
    ];
    for (const token of forms) {
      const answer = await ask(token);
      expect([answer.status, answer.text]).toEqual([200, INACTIVE]);
    }
    expect((await ask(access, { 'x-service-tenant': 'another' })).text).toBe(INACTIVE);
  });

  it('oauth 7 8 ends with the token, its session, its key, its user', async () => {
    const bob = await fixture.register(admin.tenantId);
    expect((await ask(bob.access)).body.active).toBe(true);
    await fixture.as(bob).delete(`/api/v1/me/sessions/${claimsOf(bob.access).sid}`);
    expect((await ask(bob.access)).text).toBe(INACTIVE);

    const carl = await fixture.register(admin.tenantId, 'carl');
    expect((await ask(carl.access)).body.active).toBe(true);
    const path = `/api/v1/admin/users/${carl.userId}`;
    expect((await fixture.as(admin).patch(path, { status: 'disabled' })).status).toBe(200);
    expect((await ask(carl.access)).text).toBe(INACTIVE);
    expect((await ask(carl.refresh)).text).toBe(INACTIVE);

    const key = await apiKey(['fga:read']);
    expect((await ask(key.key)).body.active).toBe(true);
    await fixture.as(admin).delete(`/api/v1/api-keys/${key.id}`);
    expect((await ask(key.key)).text).toBe(INACTIVE);
  });

  it('appends nothing', async () => {
    await ask(admin.access);
    const before = await fixture.head();
    for (let n = 0; n < 5; n += 1) await ask(admin.access);
    expect(await fixture.eventsSince(before)).toEqual([]);
  });

  it('asks for a token, and quotes nothing', async () => {
    const answer = await fixture.rest.post(PATH, { tokens: 'canary' });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe('invalid_request');
    expect(answer.text).not.toContain('canary');
  });
});

describe('who may introspect', () => {
  it('oauth 9 has to be right where it is shown, and sees its own tenant alone', async () => {
    const { key } = await apiKey(['tokens:introspect']);
    const own = { authorization: `Bearer ${key}` };
    const eve = await fixture.signUp('eve');
    expect((await ask(admin.access, own)).body.active).toBe(true);
    expect((await ask(eve.access, own)).text).toBe(INACTIVE);
    const without = await apiKey(['fga:read']);
    const lacking = await ask(admin.access, { authorization: `Bearer ${without.key}` });
    expect([lacking.status, lacking.body.error]).toEqual([403, 'insufficient_scope']);
    for (const authorization of [`Bearer ${admin.access}`, 'Basic eDp5', 'Digest x', 'Bearer x']) {
      const answer = await ask(admin.access, { authorization });
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
    }
  });

  it('oauth 9 may be a confidential client', async () => {
    const made = await fixture
      .as(admin)
      .post('/api/v1/admin/applications', { name: 'API', type: 'm2m' });
    const { client_id, client_secret } = made.body;
    const basic = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
    const shown = await ask(admin.access, { authorization: `Basic ${basic}` });
    expect(shown.body.active).toBe(true);
    const body = { token: admin.access, client_id, client_secret };
    expect((await fixture.rest.post(PATH, body)).body.active).toBe(true);
    const wrong = { ...body, client_secret: `${client_secret}x` };
    expect((await fixture.rest.post(PATH, wrong)).status).toBe(401);
  });
});

describe('a deployment that asks who introspects', () => {
  const own = testDatabase();

  it('oauth 9 answers nobody without a credential', async () => {
    const strict = await identityFixture(own.url, { INTROSPECT_REQUIRE_AUTH: 'true' });
    try {
      const { access } = await strict.signUp();
      const answer = await strict.rest.post(PATH, { token: access });
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
      const { derive } = strict.host.needsOf('identity');
      const headers = {
        authorization: `Bearer ${internalBearers({ derive }, ['identity'], 'vault').to('identity')[0]}`,
      };
      expect((await strict.rest.post(PATH, { token: access }, { headers })).body.active).toBe(true);
    } finally {
      await strict.stop();
    }
  });
});

describe('consents and userinfo', () => {
  it('oauth 10 refuses tokens of logins and agents at userinfo', async () => {
    const { key } = await agentKey();
    const services = [{ service_name: 'billing', fields: ['api_key'] }];
    const call = { bearer: key, tenant: admin.tenantId };
    const { body } = await fixture.rest.post('/api/v1/agent/sessions', { services }, call);
    for (const bearer of [admin.access, body.data.agent_token, 'x', undefined]) {
      const answer = await fixture.rest.get('/oauth2/userinfo', { bearer });
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_token']);
      expect(answer.headers.get('www-authenticate')).toContain('invalid_token');
    }
  });

  it('are none until an application was allowed in', async () => {
    const rest = fixture.as(admin);
    expect((await rest.get('/api/v1/auth/consents')).body).toEqual({ consents: [] });
    expect((await rest.delete('/api/v1/auth/consents/nobody')).status).toBe(404);
  });
});

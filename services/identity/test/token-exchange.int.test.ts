/** Token exchange (RFC 8693) at two replicas, compared with `POST /agent/sessions` row by row. */
import { untilTrue } from '@cardea/testing';
import * as openid from 'openid-client';
import { describe, expect, it } from 'vitest';
import { claimsOf } from './identity-fixture.ts';
import { clientOf, type OAuthFixture } from './oauth-fixture.ts';
import { oauthReplicasOfFile } from './oauth-replicas-fixture.ts';
import {
  ACCESS_TYPE,
  eventsSay,
  exchangingAgent,
  NAMED_SERVICES,
  postTokenExchange,
  scopeOf,
  sidOf,
  TOKEN_EXCHANGE_GRANT,
  tokenExchangeForm,
  tokensSay,
} from './token-exchange-fixture.ts';
import { GRANTED_ROWS, REFUSED_ROWS, type TokenExchangeRow } from './token-exchange-rows.ts';

const of = oauthReplicasOfFile();

/** A new world with the same state for either endpoint, and the log's events since. */
async function worldOf(row: TokenExchangeRow) {
  const user = await of.one.register(of.admin.tenantId);
  const services = row.granted ?? NAMED_SERVICES;
  const agent = await exchangingAgent(of.one, of.admin, { services, ...(await row.made?.(of)) });
  const world = { of, agent, user };
  await row.given?.(world);
  const subject = (await row.subject?.(world)) ?? user.access;
  const before = await of.one.head();
  /** Replaces values that are unique to this world. */
  const compared = (value: object) => {
    const own = [agent.id, agent.keyId, user.userId, ...sidOf(subject), ...agent.appIds];
    const text = JSON.stringify(value);
    return JSON.parse(own.reduce((left, id, at) => left.replaceAll(id, `own ${at}`), text));
  };
  return {
    ...{ agent, subject, asked: row.services ?? NAMED_SERVICES },
    since: async () => compared(eventsSay(await of.one.eventsSince(before))),
    said: (agentToken: string, capability: string) => compared(tokensSay(agentToken, capability)),
  };
}

async function byEndpoint(at: OAuthFixture, row: TokenExchangeRow) {
  const { agent, asked: services, subject: subject_token, since, said } = await worldOf(row);
  const rest = at.rest.as({ bearer: agent.key, tenant: agent.tenantId });
  const answer = await rest.post('/api/v1/agent/sessions', { services, subject_token });
  const { data } = answer.body;
  return {
    status: answer.status,
    code: answer.code,
    tokens: data && said(data.agent_token, data.capability_token),
    shown: data && (await rest.get(`/api/v1/agent/sessions/${data.id}`)).body.data,
    events: await since(),
  };
}

async function byExchange(at: OAuthFixture, row: TokenExchangeRow) {
  const { agent, asked, subject, since, said } = await worldOf(row);
  const scope = scopeOf(asked);
  const answer = await postTokenExchange(at, agent, tokenExchangeForm(subject, scope));
  const { access_token, capability_token, agent_session_id } = answer.body;
  const rest = at.rest.as({ bearer: agent.key, tenant: agent.tenantId });
  return {
    ...{ answer, scope },
    tokens: access_token && said(access_token, capability_token),
    shown:
      agent_session_id && (await rest.get(`/api/v1/agent/sessions/${agent_session_id}`)).body.data,
    events: await since(),
  };
}

const withoutIds = ({
  id: _i,
  agent_id: _a,
  user_id: _u,
  created_at: _c,
  expires_at: _e,
  ...rest
}: {
  readonly [field: string]: unknown;
}) => rest;

describe('an exchange is POST /agent/sessions by another endpoint', () => {
  it.each(GRANTED_ROWS)('and grants $what [oauth 38]', async (row) => {
    const [one, other] = [await byEndpoint(of.one, row), await byExchange(of.other, row)];
    expect(one.status).toBe(201);
    expect(other.answer, JSON.stringify(other.answer.body)).toMatchObject({ status: 200 });
    const {
      access_token: _t,
      capability_token: _c,
      agent_session_id: _s,
      ...rest
    } = other.answer.body;
    expect(rest).toEqual({
      ...{ issued_token_type: ACCESS_TYPE, token_type: 'Bearer', expires_in: 900 },
      ...(other.scope === '' ? {} : { scope: other.scope }),
    });
    expect(other.answer.headers.get('cache-control')).toBe('no-store');
    expect(other.tokens).toEqual(one.tokens);
    expect(withoutIds(other.shown)).toEqual(withoutIds(one.shown));
    expect(other.events).toEqual(one.events);
    expect(one.events.map(({ type }: { type: string }) => type)).toEqual(['AgentSessionStarted']);
  });

  it.each(REFUSED_ROWS)('and refuses $what [oauth 38]', async (row) => {
    const [one, other] = [await byEndpoint(of.one, row), await byExchange(of.other, row)];
    const { status, code, error, besides } = row.refused;
    expect([one.status, one.code]).toEqual([status, code]);
    expect([other.answer.status, other.answer.body.error]).toEqual([
      error === 'invalid_client' ? 401 : 400,
      error,
    ]);
    expect(Object.keys(other.answer.body).sort()).toEqual(['error', 'error_description']);
    const own = other.events.filter(({ type }: { type: string }) => type !== besides);
    expect(own).toEqual(one.events);
    expect(other.events).toHaveLength(own.length + (besides === undefined ? 0 : 1));
  });
});

describe('an agent with openid-client', () => {
  it.each([
    ['client_secret_basic', openid.ClientSecretBasic],
    ['client_secret_post', openid.ClientSecretPost],
  ])('acts for a user with the tokens that it got by %s [oauth 38]', async (_name, method) => {
    const agent = await exchangingAgent(of.one, of.admin);
    const user = await of.one.register(of.admin.tenantId);
    const config = await clientOf(of.one, agent.id, method(agent.key));
    expect(config.serverMetadata().grant_types_supported).toContain(TOKEN_EXCHANGE_GRANT);
    const tokens = await openid.genericGrantRequest(config, TOKEN_EXCHANGE_GRANT, {
      subject_token: user.access,
      subject_token_type: ACCESS_TYPE,
      requested_token_type: ACCESS_TYPE,
      audience: `${of.one.issuer}/api`,
      resource: `${of.one.issuer}/api`,
      scope: 'service:warehouse service:warehouse',
    });
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'service:warehouse' });
    expect(tokens.refresh_token).toBeUndefined();
    expect(claimsOf(tokens.access_token)).toMatchObject({
      ...{ sub: user.userId, act: { sub: agent.id }, roles: [] },
      aud: `${of.one.issuer}/api`,
    });
    // The agent that got tokens at one replica can read its session at the other at once.
    const path = `/api/v1/agent/sessions/${tokens['agent_session_id']}`;
    const as = of.other.rest.as({ bearer: tokens.access_token, tenant: agent.tenantId });
    expect((await as.get(path)).body.data).toMatchObject({
      status: 'active',
      services: NAMED_SERVICES,
    });
    const info = await of.one.rest.post('/oauth2/introspect', { token: tokens.access_token });
    expect(info.body).toMatchObject({ active: true, act: { sub: agent.id } });
    expect((await of.one.as(user).delete(path)).status).toBe(200);
    await untilTrue(async () => (await as.get(path)).status === 401, { what: 'the end' });
  });
});

describe('the limits of an agent', () => {
  it('count its sessions by either endpoint at both replicas together [oauth 38]', async () => {
    const agent = await exchangingAgent(of.one, of.admin, { services: [] });
    const user = await of.one.register(of.admin.tenantId);
    const bearer = { bearer: agent.key, tenant: agent.tenantId };
    const body = { services: NAMED_SERVICES, subject_token: user.access };
    const answers = await Promise.all(
      Array.from({ length: 130 }, async (_, at) => {
        if (at % 2 === 0) {
          return (await of.one.rest.as(bearer).post('/api/v1/agent/sessions', body)).status;
        }
        return (await postTokenExchange(of.other, agent, tokenExchangeForm(user.access))).status;
      }),
    );
    const counted = (status: number) => answers.filter((each) => each === status).length;
    expect(counted(403) + counted(400)).toBe(120);
    expect(counted(429)).toBe(10);
    const limited = await postTokenExchange(of.one, agent, tokenExchangeForm(user.access));
    expect([limited.status, limited.body.error]).toEqual([429, 'temporarily_unavailable']);
    expect(limited.headers.get('retry-after')).toMatch(/^[1-9]/);
    // Another agent of the tenant is not affected.
    const next = await exchangingAgent(of.one, of.admin);
    expect((await postTokenExchange(of.one, next, tokenExchangeForm(user.access))).status).toBe(
      200,
    );
  });
});

describe('an exchange without the shared cache', () => {
  it('is answered, and refused, as with it [oauth 38]', async () => {
    const agent = await exchangingAgent(of.one, of.admin);
    const user = await of.one.register(of.admin.tenantId);
    await of.redis.kill();
    const granted = await postTokenExchange(of.one, agent, tokenExchangeForm(user.access));
    expect(granted, JSON.stringify(granted.body)).toMatchObject({ status: 200 });
    const key = `${agent.key.slice(0, -1)}${agent.key.endsWith('x') ? 'y' : 'x'}`;
    const wrong = { ...agent, key };
    const refused = await postTokenExchange(of.one, wrong, tokenExchangeForm(user.access));
    expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client']);
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IntrospectedKey } from '@cardea/auth';
import type { ConsumeApproval, OpenApproval } from '@cardea/contracts';
import { deriveFrom } from '@cardea/crypto';
import { refusalOfThrow } from '@cardea/http';
import { type Logger, secret, systemClock, uuidV7Ids } from '@cardea/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import { internalBearers } from '../src/peers/internal-bearer.ts';
import { internalListener } from '../src/peers/internal-listener.ts';
import type { Offers, Peers } from '../src/peers/peers.ts';
import { peersOverHttp } from '../src/peers/peers-over-http.ts';

const OLD = 'an old secret of the deployment, long enough';
const NEW = 'a new secret of the deployment, long enough';
const KEY: IntrospectedKey = {
  kind: 'api_key',
  id: 'key-1',
  tenantId: 'tenant-a',
  scopes: ['fga:read'],
  environment: 'test',
  appId: null,
  expiresAt: null,
};

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).toReversed()) await each();
});

const told: string[] = [];
const log: Logger = {
  debug: () => undefined,
  info: (_, message) => told.push(message),
  warn: (_, message) => told.push(message),
  error: (_, message) => told.push(message),
  child: () => log,
};

const bearersOf = (current: string, previous?: string) => {
  const derive = deriveFrom({
    JWT_SECRET: secret(current),
    JWT_SECRET_PREVIOUS: previous === undefined ? undefined : secret(previous),
    ENCRYPTION_KEY: secret('0'.repeat(64)),
    ENCRYPTION_KEY_PREVIOUS: undefined,
  });
  return internalBearers({ derive }, ['approval', 'authz', 'identity'], 'vault');
};

const OPEN: OpenApproval = {
  command_id: 'c-1',
  tenant_id: 'tenant-a',
  digest: 'd',
  agent_id: 'bot',
  session_id: 's-1',
  user_id: 'ann',
  service_name: 'db',
  fields: ['password'],
  policies: [{ id: 'p-1', version: 1 }],
  severity: 'low',
  ttl_seconds: 60,
  use_window_seconds: 60,
  grant_ttl_seconds: 60,
  number_match: false,
  context: { ip: null, app_claimed: true },
};
const CONSUME: ConsumeApproval = {
  id: 'r-1',
  tenant_id: 'tenant-a',
  agent_id: 'bot',
  digest: 'd',
  grant_id: 'g-1',
};
const REFUSED_PROOF = { refused: 'invalid_credentials', status: 401, retryAfter: null };
const USE_BEFORE = '2026-01-01T00:00:00.000Z';
const offers = (): Peers => ({
  identity: {
    jwks: async () => ({ keys: [{ kty: 'OKP', kid: 'one' }] }),
    introspect: async ({ token }) => ({ key: token === 'known' ? KEY : null }),
    ended: async ({ marks }) => ({ ended: marks.map(({ id }) => id === 'gone') }),
    origins: async () => ({ origins: [{ origin: 'https://app.example', tenants: ['t1'] }] }),
    pageToken: async ({ token }) => ({ token: token === 'ended' ? null : `after ${token}` }),
    proofs: async ({ withChallenge }) => ({
      ways: ['passkey'],
      challenge: withChallenge ? { challenge_id: 'c1', options: { challenge: 'abc' } } : null,
    }),
    stepUp: async ({ token, proof }) =>
      proof.method === 'code' ? { token: `confirmed ${token}` } : REFUSED_PROOF,
    facts: async ({ tenantId, agentId = '' }) => ({
      agent: { services: [], owner_user_id: `owner of ${agentId} in ${tenantId}` },
      session: null,
      user: null,
    }),
    people: async ({ userIds = [] }) => ({
      people: userIds.map((id) => ({ id, status: 'active', vouched: true, roles: ['member'] })),
    }),
  },
  approval: {
    open: async ({ tenant_id }) => ({
      outcome: 'opened',
      id: `of ${tenant_id}`,
      expires_in: 60,
      binding_message: 'bot: db · code 1234',
    }),
    get: async ({ tenant_id, id }) => ({
      outcome: 'found',
      request: { id: `${tenant_id} ${id}`, status: 'pending', digest: null },
    }),
    consume: async ({ id }) =>
      id === 'r-1'
        ? { outcome: 'consumed', again: false, use_before: USE_BEFORE }
        : { outcome: 'not_found' },
  },
  authz: {
    holders: async ({ tenant_id, relation }) => ({
      user_ids: [`${relation} in ${tenant_id}`],
      wildcard: false,
    }),
    check: async ({ checks }) => ({ allowed: checks.map(({ user_id }) => user_id === 'ann') }),
  },
});

async function listener(bearers = bearersOf(NEW), offered: Offers = offers()) {
  const listening = internalListener({
    offers: offered,
    bearers,
    clock: systemClock,
    ids: uuidV7Ids(systemClock),
    log,
    version: '0.0.0-test',
    port: 0,
    host: '127.0.0.1',
  });
  const { port } = await listening.start();
  cleanUp.push(listening.stop);
  return `http://127.0.0.1:${port}`;
}

function peersAt(url: string, bearers = bearersOf(NEW)): Peers {
  const settings = {
    IDENTITY_INTERNAL_URL: url,
    APPROVAL_INTERNAL_URL: url,
    AUTHZ_INTERNAL_URL: url,
  };
  const remote = peersOverHttp({ settings, bearers, clock: systemClock, log });
  cleanUp.push(remote.close);
  return remote.peers;
}

const post = (url: string, init: { bearer?: string; tenant?: string; body?: string }) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(init.bearer === undefined ? {} : { authorization: `Bearer ${init.bearer}` }),
      ...(init.tenant === undefined ? {} : { 'x-service-tenant': init.tenant }),
    },
    body: init.body ?? '{"token":"known"}',
  });

describe('S25 the internal listener', () => {
  it('S25 answers nobody without its bearer, whatever is asked', async () => {
    const url = await listener();
    const [bearer = ''] = bearersOf(NEW).to('approval');
    const wrong = [
      undefined,
      '',
      'x',
      `${bearer}x`,
      bearer.slice(1),
      bearersOf(OLD).to('approval')[0],
    ];
    for (const each of wrong) {
      for (const path of ['/internal/v1/introspect', '/internal/v1/approval/open', '/unknown']) {
        const asked = each === undefined ? {} : { bearer: each };
        expect((await post(`${url}${path}`, asked)).status, `${each} ${path}`).toBe(401);
      }
    }
    expect((await post(`${url}/internal/v1/introspect`, { bearer })).status).toBe(200);
  });

  it('S25 acts for no tenant but the one that the caller says twice', async () => {
    const url = await listener();
    const [bearer = ''] = bearersOf(NEW).to('approval');
    const open = (tenant: string | undefined, tenant_id: unknown) =>
      post(`${url}/internal/v1/approval/open`, {
        bearer,
        ...(tenant === undefined ? {} : { tenant }),
        body: JSON.stringify({ ...OPEN, tenant_id }),
      });
    expect((await open('tenant-a', 'tenant-a')).status).toBe(200);
    expect((await open('tenant-b', 'tenant-a')).status).toBe(401);
    expect((await open(undefined, 'tenant-a')).status).toBe(401);
    expect((await open('tenant-a', undefined)).status).toBe(400);
    const facts = (tenant: string, asked: object) =>
      post(`${url}/internal/v1/facts`, { bearer, tenant, body: JSON.stringify(asked) });
    expect((await facts('tenant-a', { tenantId: 'tenant-a', agentId: 'a' })).status).toBe(200);
    expect((await facts('tenant-b', { tenantId: 'tenant-a', agentId: 'a' })).status).toBe(401);
    expect((await facts('tenant-a', { tenantId: 'tenant-a', agentId: 7 })).status).toBe(400);
  });

  it('S25 believes the previous secret while it is rotated, and no longer', async () => {
    const rotating = await listener(bearersOf(NEW, OLD));
    const [old = ''] = bearersOf(OLD).to('approval');
    expect((await post(`${rotating}/internal/v1/introspect`, { bearer: old })).status).toBe(200);
    const rotated = await listener(bearersOf(NEW));
    expect((await post(`${rotated}/internal/v1/introspect`, { bearer: old })).status).toBe(401);
    // A service that was not restarted yet can be called as well.
    const behind = await listener(bearersOf(OLD));
    expect(
      await peersAt(behind, bearersOf(NEW, OLD)).identity.introspect({ token: 'known' }),
    ).toEqual({ key: KEY });
  });

  it('S25 takes JSON of bounded size alone, and offers what the service has', async () => {
    const url = await listener(bearersOf(NEW), {
      identity: { jwks: offers().identity.jwks },
    });
    const [bearer = ''] = bearersOf(NEW).to('approval');
    expect((await post(`${url}/internal/v1/introspect`, { bearer })).status).toBe(404);
    const full = `${await listener()}/internal/v1/introspect`;
    const body = JSON.stringify({ token: 'x'.repeat(300 * 1024) });
    expect((await post(full, { bearer, body })).status).toBe(413);
    expect((await post(full, { bearer, body: '{"token":' })).status).toBe(400);
    expect((await post(full, { bearer, body: '{"token":"a","token":"b"}' })).status).toBe(400);
  });
});

describe('a peer in another process', () => {
  it('answers as one in the same process does', async () => {
    const [near, far] = [offers(), peersAt(await listener())];
    expect(await far.identity.jwks()).toEqual(await near.identity.jwks());
    expect(await far.identity.introspect({ token: 'known' })).toEqual({ key: KEY });
    expect(await far.identity.introspect({ token: 'unknown' })).toEqual({ key: null });
    const marks = ['gone', 'here'].map((id) => ({ kind: 'user' as const, id }));
    expect(await far.identity.ended({ marks })).toEqual({ ended: [true, false] });
    const asked = { tenantId: 'tenant-a', agentId: 'bot' };
    expect(await far.identity.facts(asked)).toEqual(await near.identity.facts(asked));
    for (const token of ['ended', 'alive']) {
      expect(await far.identity.pageToken({ token })).toEqual(
        await near.identity.pageToken({ token }),
      );
    }
    for (const withChallenge of [true, false]) {
      const proofs = { token: 'alive', withChallenge };
      expect(await far.identity.proofs(proofs)).toEqual(await near.identity.proofs(proofs));
    }
    const step = { token: 'alive', ip: '::1', userAgent: '', requestId: 'r' };
    const code = { ...step, proof: { method: 'code', code: '1' } } as const;
    const password = { ...step, proof: { method: 'password', password: 'p' } } as const;
    expect(await far.identity.stepUp(code)).toEqual({ token: 'confirmed alive' });
    expect(await far.identity.stepUp(password)).toEqual(REFUSED_PROOF);
    const people = { tenantId: 'tenant-a', userIds: ['ann', 'bob'] };
    expect(await far.identity.people(people)).toEqual(await near.identity.people(people));
    expect(await far.approval.open(OPEN)).toEqual(await near.approval.open(OPEN));
    const held = {
      tenant_id: 'tenant-a',
      relation: 'editor',
      object_type: 'doc',
      object_id: 'd#1',
    };
    expect(await far.authz.holders(held)).toEqual(await near.authz.holders(held));
    const { tenant_id, ...relation } = held;
    const checks = ['ann', 'bob'].map((user_id) => ({ user_id, ...relation }));
    expect(await far.authz.check({ tenant_id, checks })).toEqual({ allowed: [true, false] });
    const odd = { tenant_id: 'tenant-a', id: 'a/b?c;d..e' };
    expect(await far.approval.get(odd)).toEqual(await near.approval.get(odd));
    expect(await far.approval.consume(CONSUME)).toEqual(await near.approval.consume(CONSUME));
    const other = { ...CONSUME, id: '../r-1' };
    expect(await far.approval.consume(other)).toEqual({ outcome: 'not_found' });
  });

  it('is asked nothing that the contract does not take', async () => {
    const { approval, identity } = peersAt(await listener());
    const status = (error: Error) => [error.name, error.message];
    const refused = ['PeerUnavailable', expect.stringContaining('400')];
    const wrong = { ...OPEN, severity: 'extreme' } as unknown as OpenApproval;
    expect(await approval.open(wrong).catch(status)).toEqual(refused);
    const late = { ...OPEN, ttl_seconds: 0 };
    expect(await approval.open(late).catch(status)).toEqual(refused);
    const marks = Array.from({ length: 101 }, () => ({ kind: 'user' as const, id: 'u' }));
    expect(await identity.ended({ marks }).catch(status)).toEqual(refused);
  });

  it.each([
    ['no outcome at all', {}],
    ['an outcome that nobody knows', { outcome: 'postponed' }],
    ['a field of another type', { outcome: 'rate_limited', retry_after: '7' }],
    ['a time that is none', { outcome: 'muted', until: 'soon' }],
    ['no field beside the outcome', { outcome: 'opened', id: 'r-1' }],
  ])('is as good as away when it answers with %s, and the log names its fault', async (_, body) => {
    const open = async () => body as never;
    const { approval } = peersAt(await listener(bearersOf(NEW), { approval: { open } }));
    const failure: unknown = await approval.open(OPEN).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'UnexpectedAnswer' });
    expect(refusalOfThrow(failure)).toMatchObject({ status: 503, code: 'temporarily_unavailable' });
    expect(told).toContain('another service broke its contract');
  });

  it('may say more than this release knows', async () => {
    const open = async () => ({ outcome: 'user_inactive' as const, since: USE_BEFORE });
    const { approval } = peersAt(await listener(bearersOf(NEW), { approval: { open } }));
    expect(await approval.open(OPEN)).toMatchObject({ outcome: 'user_inactive' });
  });

  it('is asked once more when a call broke off, and is away when that breaks off too', async () => {
    let calls = 0;
    let isThere = true;
    const url = await flaky((respond) => {
      calls += 1;
      respond(isThere && calls > 1);
    });
    const { identity } = peersAt(url);
    expect(await identity.jwks()).toEqual({ keys: [] });
    expect(calls).toBe(2);

    isThere = false;
    const failure: unknown = await identity.jwks().catch((error: unknown) => error);
    expect(refusalOfThrow(failure)).toMatchObject({
      status: 503,
      code: 'temporarily_unavailable',
      headers: { 'Retry-After': '1' },
    });
    expect(told).toContain('another service does not answer');
  });

  it('is of no use where nobody listens', async () => {
    const url = await listener();
    await cleanUp.pop()?.();
    const failure: unknown = await peersAt(url)
      .identity.introspect({ token: 'known' })
      .catch((error: unknown) => error);
    expect(refusalOfThrow(failure).status).toBe(503);
  });
});

/** A server that returns an empty key set, or closes the connection. */
async function flaky(decide: (respond: (well: boolean) => void) => void): Promise<string> {
  const server: Server = createServer((request, response) => {
    decide((well) => (well ? response.end('{"keys":[]}') : request.socket.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

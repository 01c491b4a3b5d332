import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IntrospectedKey } from '@cardea/auth';
import { deriveFrom } from '@cardea/crypto';
import { refusalOfThrow } from '@cardea/http';
import { type Logger, secret } from '@cardea/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import { internalBearers } from '../src/internal-bearer.ts';
import { internalListener } from '../src/internal-listener.ts';
import { peersOverHttp } from '../src/peers-over-http.ts';
import type { Peers } from '../src/service.ts';

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

const bearersOf = (current: string, previous?: string) =>
  internalBearers(
    deriveFrom({
      JWT_SECRET: secret(current),
      JWT_SECRET_PREVIOUS: previous === undefined ? undefined : secret(previous),
      ENCRYPTION_KEY: secret('0'.repeat(64)),
      ENCRYPTION_KEY_PREVIOUS: undefined,
    }),
  );

type Input = { readonly tenant_id: string };
const offers = (): Peers => ({
  jwks: async () => ({ keys: [{ kty: 'OKP', kid: 'one' }] }),
  introspect: async (credential) => (credential === 'known' ? KEY : undefined),
  ended: async (marks) => marks.map(({ id }) => id === 'gone'),
  facts: async ({ tenantId, agentId = '' }) => ({
    agent: { services: [], owner_user_id: `owner of ${agentId} in ${tenantId}` },
    session: null,
    user: null,
  }),
  approval: {
    open: async (input) => ({ outcome: 'opened', of: (input as Input).tenant_id }),
    get: async (tenantId, id) => ({ outcome: 'found', of: `${tenantId} ${id}` }),
    consume: async (id, input) => ({
      outcome: 'consumed',
      of: `${(input as Input).tenant_id} ${id}`,
    }),
  },
});

async function listener(bearers = bearersOf(NEW), offered: Partial<Peers> = offers()) {
  const listening = internalListener({ offers: offered, bearers, log, port: 0, host: '127.0.0.1' });
  const { port } = await listening.start();
  cleanUp.push(listening.stop);
  return `http://127.0.0.1:${port}`;
}

function peersAt(url: string, bearers = bearersOf(NEW)): Peers {
  const settings = { IDENTITY_INTERNAL_URL: url, APPROVAL_INTERNAL_URL: url };
  const remote = peersOverHttp({ settings, bearers, log });
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
    const [bearer = ''] = bearersOf(NEW).own;
    const wrong = [undefined, '', 'x', `${bearer}x`, bearer.slice(1), bearersOf(OLD).own[0]];
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
    const [bearer = ''] = bearersOf(NEW).own;
    const open = (tenant: string | undefined, tenant_id: unknown) =>
      post(`${url}/internal/v1/approval/open`, {
        bearer,
        ...(tenant === undefined ? {} : { tenant }),
        body: JSON.stringify({ tenant_id }),
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
    const [old = ''] = bearersOf(OLD).own;
    expect((await post(`${rotating}/internal/v1/introspect`, { bearer: old })).status).toBe(200);
    const rotated = await listener(bearersOf(NEW));
    expect((await post(`${rotated}/internal/v1/introspect`, { bearer: old })).status).toBe(401);
    // A peer that was not restarted yet is reached as well.
    const behind = await listener(bearersOf(OLD));
    expect(await peersAt(behind, bearersOf(NEW, OLD)).introspect('known')).toEqual(KEY);
  });

  it('S25 takes JSON of bounded size alone, and offers what the service has', async () => {
    const url = await listener(bearersOf(NEW), { jwks: offers().jwks });
    const [bearer = ''] = bearersOf(NEW).own;
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
    const peers = peersAt(await listener());
    expect(await peers.jwks()).toEqual(await offers().jwks());
    expect(await peers.introspect('known')).toEqual(KEY);
    expect(await peers.introspect('unknown')).toBeUndefined();
    const marks = ['gone', 'here'].map((id) => ({ kind: 'user' as const, id }));
    expect(await peers.ended(marks)).toEqual([true, false]);
    const asked = { tenantId: 'tenant-a', agentId: 'bot' };
    expect(await peers.facts(asked)).toEqual(await offers().facts(asked));
    const { approval } = peers;
    const input = { tenant_id: 'tenant-a' };
    expect(await approval.open(input)).toEqual({ outcome: 'opened', of: 'tenant-a' });
    expect(await approval.get('tenant-a', 'a/b?c')).toMatchObject({ of: 'tenant-a a/b?c' });
    expect(await approval.consume('r-1', input)).toMatchObject({ of: 'tenant-a r-1' });
  });

  it('is asked once more when a call broke off, and is away when that breaks off too', async () => {
    let calls = 0;
    const url = await flaky((respond) => {
      calls += 1;
      respond(calls > 1);
    });
    expect(await peersAt(url).jwks()).toEqual({ keys: [] });
    expect(calls).toBe(2);

    const dead = await flaky((respond) => respond(false));
    const failure: unknown = await peersAt(dead)
      .jwks()
      .catch((error: unknown) => error);
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
      .introspect('known')
      .catch((error: unknown) => error);
    expect(refusalOfThrow(failure).status).toBe(503);
  });
});

/** A server that answers an empty key set, or cuts the connection. */
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

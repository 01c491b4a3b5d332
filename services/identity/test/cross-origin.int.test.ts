import { untilTrue } from '@cardea/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Account } from './identity-fixture.ts';
import { application, authorized, oauthOfFile } from './oauth-fixture.ts';

const CONSOLE = 'https://console.example.org';
const PAGE = 'https://shop.example.com';
const OTHER = 'https://shop.example.net';

const { fixture, admin } = oauthOfFile({ CORS_ORIGINS: CONSOLE });
let eve: Account;
let clientOfEve: { id: string; client_id: string };
beforeAll(async () => {
  eve = await fixture.signUp('eve');
  clientOfEve = await application(fixture, eve, { allowed_origins: [OTHER] });
});

const ALLOW = 'access-control-allow-origin';
const call = async (path: string, origin: string, init: RequestInit = {}) => {
  const headers = { origin, ...(init.headers as { [name: string]: string } | undefined) };
  const answer = await fetch(`${fixture.baseUrl}${path}`, { ...init, headers });
  await answer.arrayBuffer();
  return answer;
};
const preflight = (path: string, origin: string, method = 'POST') =>
  call(path, origin, { method: 'OPTIONS', headers: { 'access-control-request-method': method } });
const allowed = async (path: string, origin: string) =>
  (await preflight(path, origin)).headers.get(ALLOW) === origin;
const untilAllowed = (origin: string, is = true) =>
  untilTrue(async () => (await allowed('/oauth2/token', origin)) === is, {
    what: `${origin} to be ${is ? 'allowed' : 'refused'}`,
  });

describe('pages of the origins that applications allow', () => {
  it('oauth 26 may call once an application allows their origin, until none does', async () => {
    expect(await allowed('/api/v1/auth/login', PAGE)).toBe(false);
    const client = await application(fixture, admin, { allowed_origins: [PAGE] });
    await untilAllowed(PAGE);
    expect(await allowed('/api/v1/auth/login', PAGE)).toBe(true);
    const of = (account: Account, origin: string) =>
      call('/api/v1/user/profile', origin, {
        headers: { authorization: `Bearer ${account.access}` },
      });
    expect((await of(admin, PAGE)).headers.get(ALLOW)).toBe(PAGE);
    expect((await of(eve, PAGE)).headers.get(ALLOW)).toBeNull();
    const path = `/api/v1/admin/applications/${client.id}`;
    const changed = await fixture.as(admin).patch(path, { allowed_origins: [] });
    expect(changed.status).toBe(200);
    await untilAllowed(PAGE, false);
    expect((await of(admin, PAGE)).headers.get(ALLOW)).toBeNull();
  });

  it('oauth 26 may call every tenant where the deployment names their origin', async () => {
    for (const account of [admin, eve]) {
      const answer = await call('/api/v1/user/profile', CONSOLE, {
        headers: { authorization: `Bearer ${account.access}` },
      });
      expect(answer.headers.get(ALLOW)).toBe(CONSOLE);
    }
  });

  it("oauth 26 exchange codes and refresh for clients of their tenant, and read no other's answers", async () => {
    const client = await application(fixture, admin, { allowed_origins: [PAGE] });
    await untilAllowed(PAGE);
    await untilAllowed(OTHER);
    const { refresh_token } = await authorized(fixture, { client, account: admin });
    const refresh = (origin: string, client_id: string, token: string) =>
      call('/oauth2/token', origin, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_id,
          refresh_token: token,
        }),
      });
    const foreign = await refresh(OTHER, client.client_id, 'rt_none');
    expect([foreign.status, foreign.headers.get(ALLOW)]).toEqual([400, null]);
    const unknown = await refresh(OTHER, 'nobody', 'rt_none');
    expect([unknown.status, unknown.headers.get(ALLOW)]).toEqual([401, OTHER]);
    const own = await refresh(PAGE, client.client_id, refresh_token);
    expect([own.status, own.headers.get(ALLOW)]).toEqual([200, PAGE]);
    expect(own.headers.get('access-control-allow-credentials')).toBeNull();
    const theirs = await refresh(OTHER, clientOfEve.client_id, 'rt_none');
    expect([theirs.status, theirs.headers.get(ALLOW)]).toEqual([400, OTHER]);
  });

  it('oauth 26 are told of the documents and keys wherever they are from', async () => {
    for (const path of [
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/api',
      '/.well-known/jwks.json',
      '/oauth2/jwks',
    ]) {
      expect((await call(path, 'https://nobody.example')).headers.get(ALLOW)).toBe('*');
    }
    const authorize = await call('/oauth2/authorize?client_id=x', PAGE, { redirect: 'manual' });
    expect(authorize.headers.get(ALLOW)).toBeNull();
  });

  it('oauth 26 cost the database nothing with their preflights', async () => {
    await untilAllowed(OTHER);
    const { system } = fixture.shared.database;
    const { query } = system;
    let reads = 0;
    const counted = ((...given: Parameters<typeof query>) => {
      if (JSON.stringify(given).includes('allowed_origins')) reads += 1;
      return query(...given);
    }) as typeof query;
    Object.assign(system, { query: counted });
    try {
      for (let n = 0; n < 50; n += 1) {
        expect(await allowed('/api/v1/auth/login', `https://${n}.example.com`)).toBe(false);
        expect(await allowed('/api/v1/auth/login', OTHER)).toBe(true);
      }
      expect(reads).toBe(0);
      // This checks that the counter works: a change is read once by this process.
      await application(fixture, eve, { allowed_origins: ['https://late.example.net'] });
      await untilAllowed('https://late.example.net');
      expect(reads).toBeGreaterThan(0);
    } finally {
      Object.assign(system, { query });
    }
  });
});

/** What requests may use up that only name a client, or that request authorization without a client's proof. */
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../src/http/limits.ts';
import { application, oauthOfFile, pkce, REDIRECT, type TestClient } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile({
  RATE_LIMIT_FACTOR: '1',
  TRUSTED_PROXIES: '127.0.0.1/32',
});

const post = (path: string, ip: string, form: { readonly [name: string]: string }, headers = {}) =>
  fetch(`${fixture.baseUrl}${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { 'x-forwarded-for': ip, ...headers },
  });
/** Sends concurrent requests from three addresses. Each path has a separate network. */
const strangers = (count: number, path: string, form: { readonly [name: string]: string }) =>
  Promise.all(
    Array.from({ length: count }, (_, at) => post(path, `203.${path.length}.${at % 3}.7`, form)),
  ).then((answers) => answers.map(({ status }) => status));

describe('a client that strangers name', () => {
  it('P6 still gets its tokens after 750 calls that named it', async () => {
    const made = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], scopes: ['openid'] },
    });
    const { client_id, client_secret } = made;
    const wrong = { grant_type: 'client_credentials', client_id, client_secret: 'wrong' };
    const statuses = await strangers(750, '/oauth2/token', wrong);
    // The limit by address is charged before the work, so no more than that many get through.
    expect(statuses.filter((status) => status === 401)).toHaveLength(3 * 60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(750 - 3 * 60);
    const basic = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
    const authorization = `Basic ${basic}`;
    const form = { grant_type: 'client_credentials', scope: 'openid' };
    const answer = await post('/oauth2/token', '198.51.100.7', form, { authorization });
    expect(answer.status).toBe(200);
  });

  it('P6 still pushes its requests after 400 that named it', async () => {
    const { client_id } = await application(fixture, admin, { first_party: true });
    const form = {
      ...{ client_id, response_type: 'code', redirect_uri: REDIRECT, scope: 'openid' },
      ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256' },
    };
    const statuses = await strangers(400, '/oauth2/par', form);
    expect(statuses.filter((status) => status === 201)).toHaveLength(3 * 120);
    expect((await post('/oauth2/par', '198.51.100.8', form)).status).toBe(201);
  });

  it('C3 leaves no more than 8 MiB of one address in the cache, whatever clients it names', async () => {
    const clients = await Promise.all(
      Array.from({ length: 10 }, () => application(fixture, admin, { first_party: true })),
    );
    const push = async ({ client_id }: { readonly client_id: string }, ip: string) =>
      (
        await post('/oauth2/par', ip, {
          ...{ client_id, response_type: 'code', redirect_uri: REDIRECT, scope: 'openid' },
          ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256' },
          state: 'x'.repeat(7 * 1024),
        })
      ).status;
    const statuses: number[] = [];
    for (const client of clients) {
      const some = Array.from({ length: 120 }, () => push(client, '203.0.113.9'));
      statuses.push(...(await Promise.all(some)));
    }
    const kept = statuses.filter((status) => status === 201).length;
    expect(kept).toBeGreaterThan(500);
    expect(kept * 7 * 1024).toBeLessThan(8 * 1024 * 1024);
    expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - kept);
    expect(await push(clients[0] as TestClient, '198.51.100.9')).toBe(201);
  });

  it('C3 leaves no more than 128 MiB of one tenant in the cache, from however many addresses', async () => {
    const owner = await fixture.signUp();
    const mine = await application(fixture, owner, { first_party: true });
    const other = await fixture.signUp();
    const theirs = await application(fixture, other, { first_party: true });
    const push = async ({ client_id }: TestClient, ip: string) => {
      const answer = await post('/oauth2/par', ip, {
        ...{ client_id, response_type: 'code', redirect_uri: REDIRECT, scope: 'openid' },
        ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256' },
        state: 'x'.repeat(7 * 1024),
      });
      return answer.status;
    };
    const { limits } = fixture.host.needsOf('identity');
    const all = 128 * 1024;
    const leftKib = 24;
    const charged = [LIMITS.artifactKibByTenant, owner.tenantId, all - leftKib] as const;
    expect((await limits.take(charged)).allowed).toBe(true);
    const statuses: number[] = [];
    for (let at = 0; at < 5; at += 1) statuses.push(await push(mine, `198.18.${at}.9`));
    const kept = statuses.filter((status) => status === 201).length;
    expect(kept).toBeGreaterThan(0);
    expect(kept * 7).toBeLessThanOrEqual(leftKib);
    expect(statuses.slice(kept)).toEqual(Array(5 - kept).fill(429));
    expect(await push(theirs, '198.18.9.9')).toBe(201);
  });
});

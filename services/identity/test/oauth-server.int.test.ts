import { untilTrue } from '@cardea/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  authorizeUrl,
  browser,
  oauthCalls,
  oauthOfFile,
  pkce,
  REDIRECT,
  signIn,
  type TestClient,
  token,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
let bob: Account;
let spa: TestClient;
beforeAll(async () => {
  bob = await fixture.register(admin.tenantId);
  spa = await application(fixture, admin);
});

const { introspect, refresh, authorize } = oauthCalls(() => fixture);

describe('the authorization server', () => {
  it("oauth 4 tells of the issuer's addresses alone, whatever host a request names", async () => {
    for (const path of ['openid-configuration', 'oauth-authorization-server']) {
      const answer = await fixture.rest.get(`/.well-known/${path}`, {
        headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
      });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('evil.example');
      const urls = answer.text.match(/https?:\/\/[^/"]+/g) ?? [];
      expect(new Set(urls)).toEqual(new Set([fixture.issuer]));
      expect(answer.body).toMatchObject({
        issuer: fixture.issuer,
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        introspection_endpoint: `${fixture.issuer}/oauth2/introspect`,
        userinfo_endpoint: `${fixture.issuer}/oauth2/userinfo`,
        device_authorization_endpoint: `${fixture.issuer}/oauth2/device_authorization`,
        ...{ backchannel_logout_supported: true, backchannel_logout_session_supported: true },
      });
      // Metadata that the library would announce although we serve no such endpoint.
      const more =
        /mtls|registration|(?<!end_|logout_)session_|(?<!backchannel_)logout|backchannel(?!_logout)/;
      expect(Object.keys(answer.body).filter((name) => more.test(name))).toEqual([]);
    }
  });

  it('the metadata of a protected resource are where its identifier leads, and 401 leads there', async () => {
    const refused = await fixture.rest.get('/api/v1/user/profile');
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const [, named = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    const { body } = await fixture.rest.get(new URL(named).pathname);
    const { origin, pathname } = new URL(body.resource);
    // RFC 9728, 3.1: the well-known path is inserted between host and path.
    expect(named).toBe(`${origin}/.well-known/oauth-protected-resource${pathname}`);
    expect(body).toMatchObject({ authorization_servers: [fixture.issuer] });
    expect((await fixture.rest.get('/.well-known/oauth-protected-resource')).body).toEqual(body);
  });

  it('oauth 3 lets one of ten exchanges of a code win', async () => {
    const { verifier, challenge } = pkce();
    const url = authorizeUrl(spa, { code_challenge: challenge });
    const back = await signIn(browser(fixture), url, { account: bob });
    const form = {
      ...{ grant_type: 'authorization_code', client_id: spa.client_id, redirect_uri: REDIRECT },
      ...{ code: back.searchParams.get('code'), code_verifier: verifier },
    };
    const answers = await Promise.all(Array.from({ length: 10 }, () => token(fixture, form)));
    const lost = answers.filter(({ status }) => status !== 200);
    expect(lost).toHaveLength(9);
    for (const { status, body } of lost)
      expect([status, body.error]).toEqual([400, 'invalid_grant']);
  });

  it('oauth 3 ends the session of a code that comes again', async () => {
    const first = await authorized(fixture, { client: spa, account: bob });
    expect((await introspect(first.access_token)).active).toBe(true);
    expect((await token(fixture, first.exchange)).body.error).toBe('invalid_grant');
    expect((await introspect(first.access_token)).active).toBe(false);
    expect((await refresh(spa, first.refresh_token)).body.error).toBe('invalid_grant');
    const { sid: id } = claimsOf(first.access_token);
    const told = await untilTrue(async () => {
      const { rows } = await fixture.shared.database.asSystem((sql) =>
        sql.query<{ data: object }>(
          `SELECT value -> 'data' AS data FROM bus.records
           WHERE topic = 'cardea.identity.events.v1' AND value ->> 'type' = 'session.revoked'
             AND value -> 'data' ->> 'id' = $1`,
          [id],
        ),
      );
      return rows[0]?.data;
    });
    expect(told).toMatchObject({ id, reason: 'reuse', client_id: spa.client_id });
  });

  it('oauth 3 lets one of several refreshes win, and ends the family of a replayed token', async () => {
    const { refresh_token } = await authorized(fixture, { client: spa, account: bob });
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(spa, refresh_token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const winner = answers.find(({ status }) => status === 200);
    fixture.clock.move(11_000);
    expect((await refresh(spa, refresh_token)).body.error).toBe('invalid_grant');
    const next = await refresh(spa, String(winner?.body.refresh_token));
    expect(next.body.error).toBe('invalid_grant');
  });

  it.each<[string, { [name: string]: string }, string]>([
    ['a wrong verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['no verifier', { code_verifier: '' }, 'invalid_grant'],
    ['another redirect URI', { redirect_uri: `${REDIRECT}/` }, 'invalid_grant'],
    ['a code that is none', { code: 'none' }, 'invalid_grant'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('oauth 5 refuses %s at the token endpoint', async (_what, wrong, error) => {
    const { verifier, challenge } = pkce();
    const url = authorizeUrl(spa, { code_challenge: challenge });
    const back = await signIn(browser(fixture), url, { account: bob });
    const answer = await token(fixture, {
      ...{ grant_type: 'authorization_code', client_id: spa.client_id, redirect_uri: REDIRECT },
      ...{ code: back.searchParams.get('code'), code_verifier: verifier },
      ...wrong,
    });
    expect([answer.status, answer.body.error]).toEqual([400, error]);
  });

  it("oauth 5 refuses another client's code, which its own can still use", async () => {
    const other = await application(fixture, admin);
    const { verifier, challenge } = pkce();
    const url = authorizeUrl(spa, { code_challenge: challenge });
    const back = await signIn(browser(fixture), url, { account: bob });
    const form = {
      ...{ grant_type: 'authorization_code', client_id: spa.client_id, redirect_uri: REDIRECT },
      ...{ code: back.searchParams.get('code'), code_verifier: verifier },
    };
    const foreign = await token(fixture, { ...form, client_id: other.client_id });
    expect(foreign.body.error).toBe('invalid_grant');
    expect((await token(fixture, form)).status).toBe(200);
  });

  it.each<[string, { [name: string]: string }, string]>([
    ['no challenge', { code_challenge: '' }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['an implicit response', { response_type: 'token' }, 'unsupported_response_type'],
    ['an unknown resource', { resource: 'https://nobody.example' }, 'invalid_target'],
    ['a scope that is not its own', { scope: 'openid account' }, 'invalid_scope'],
    ['nobody to ask', { prompt: 'none' }, 'login_required'],
  ])('oauth 5 19 sends %s back to the application as an error', async (_what, wrong, error) => {
    const answer = await browser(fixture).get(authorize(spa, wrong));
    expect(answer.status).toBe(303);
    const back = new URL(answer.location);
    expect(`${back.origin}${back.pathname}`).toBe(REDIRECT);
    // A request for an implicit response gets its error in the fragment.
    const sent = back.hash === '' ? back.searchParams : new URLSearchParams(back.hash.slice(1));
    expect(sent.get('error')).toBe(error);
    expect(sent.get('state')).toBe('the-state');
    expect(sent.get('iss')).toBe(fixture.issuer);
  });

  it.each([
    `${REDIRECT}/more`,
    `${REDIRECT}?a=b`,
    'http://127.0.0.1:9/CALLBACK',
    'http://127.0.0.1:10/callback',
    'http://127.0.0.1:9/a/../callback',
    'http://127.0.0.1:9%2fcallback',
    'http://127.0.0.1:9@evil.example/callback',
    'https://evil.example/callback',
  ])('oauth 6 never redirects to %s', async (redirect_uri) => {
    const page = await browser(fixture).get(authorize(spa, { redirect_uri }));
    expect([page.status, page.location]).toEqual([400, '']);
    expect(page.headers.get('content-type')).toContain('text/html');
    const json = { accept: 'application/json' };
    const asked = await browser(fixture).get(authorize(spa, { redirect_uri }), json);
    expect(asked.body.error).toBe('invalid_redirect_uri');
  });

  it('oauth 6 never redirects for a client that is none', async () => {
    const nobody = { id: 'x', client_id: 'nobody' };
    const answer = await browser(fixture).get(authorize(nobody));
    expect([answer.status, answer.location]).toEqual([400, '']);
  });

  it('oauth 18 takes a pushed request once, and a client that has to push not without', async () => {
    const pushing = await application(fixture, admin, { require_par: true, first_party: true });
    const direct = await browser(fixture).get(authorize(pushing));
    expect(direct.location).toContain('error=invalid_request');
    const push = async () => {
      const query = new URL(authorize(pushing), fixture.baseUrl).searchParams;
      const answer = await fetch(`${fixture.baseUrl}/oauth2/par`, { method: 'POST', body: query });
      expect(answer.status).toBe(201);
      return ((await answer.json()) as { request_uri: string }).request_uri;
    };
    const { client_id } = pushing;
    const page = browser(fixture);
    const url = `/oauth2/authorize?${new URLSearchParams({ client_id, request_uri: await push() })}`;
    const back = await signIn(page, url, { account: bob });
    expect(back.searchParams.get('code')).not.toBeNull();
    const again = await page.get(url);
    expect(again.text + again.location).toMatch(/invalid_request_uri/);
  });

  it('C3 refuses an authorization request of more than 8 KiB, pushed or not, and keeps nothing of it', async () => {
    const client = await application(fixture, admin, { first_party: true });
    const long = 'x'.repeat(8 * 1024);
    const url = new URL(authorize(client), fixture.baseUrl);
    url.searchParams.set('state', long);
    const direct = await browser(fixture).get(url.pathname + url.search);
    expect([direct.status, direct.location]).toEqual([400, '']);
    const body = url.searchParams;
    const pushed = await fetch(`${fixture.baseUrl}/oauth2/par`, { method: 'POST', body });
    expect([pushed.status, await pushed.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'the authorization request is too large' },
    ]);
  });

  it('gives a client that speaks for itself a token without user or roles', async () => {
    const made = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], scopes: ['openid', 'profile', 'email', 'roles'] },
    });
    const { client_id, client_secret } = made;
    const basic = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
    const headers = { authorization: `Basic ${basic}` };
    const scope = 'profile roles';
    const form = { grant_type: 'client_credentials', scope };
    const { status, body } = await token(fixture, form, headers);
    expect(status).toBe(200);
    expect(claimsOf(String(body.access_token))).toMatchObject({
      sub: client_id,
      client_id,
      roles: [],
    });
    expect(await introspect(String(body.access_token))).toMatchObject({ active: true, client_id });
    const wrong = await token(fixture, { ...form, client_id, client_secret: `${client_secret}x` });
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_client']);
    const info = await fixture.rest.get('/oauth2/userinfo', { bearer: String(body.access_token) });
    expect(info.status).toBe(401);
    const rotated = await fixture
      .as(admin)
      .post(`/api/v1/admin/applications/${made.id}/rotate-secret`, { grace_seconds: 60 });
    expect((await token(fixture, form, headers)).status).toBe(200);
    fixture.clock.move(61_000);
    expect((await token(fixture, form, headers)).status).toBe(401);
    const renewed = { ...form, client_id, client_secret: rotated.body.client_secret };
    expect((await token(fixture, renewed)).status).toBe(200);
  });

  it('revokes what its client hands back, and nothing of others', async () => {
    const { refresh_token, access_token } = await authorized(fixture, {
      client: spa,
      account: bob,
    });
    const other = await application(fixture, admin);
    const revoke = (client: TestClient, text: string) =>
      fetch(`${fixture.baseUrl}/oauth2/revoke`, {
        method: 'POST',
        body: new URLSearchParams({ token: text, client_id: client.client_id }),
      });
    expect((await revoke(other, refresh_token)).status).toBe(200);
    expect((await introspect(refresh_token)).active).toBe(true);
    const structured = await revoke(spa, access_token);
    expect([structured.status, await structured.json()]).toMatchObject([
      400,
      { error: 'unsupported_token_type' },
    ]);
    expect((await revoke(spa, refresh_token)).status).toBe(200);
    expect((await introspect(refresh_token)).active).toBe(false);
    expect((await introspect(access_token)).active).toBe(false);
  });

  it('ends with its application', async () => {
    const client = await application(fixture, admin);
    const { access_token, refresh_token } = await authorized(fixture, { client, account: bob });
    expect((await introspect(access_token)).active).toBe(true);
    await fixture.as(admin).delete(`/api/v1/admin/applications/${client.id}`);
    expect((await introspect(access_token)).active).toBe(false);
    expect((await introspect(refresh_token)).active).toBe(false);
    expect((await refresh(client, refresh_token)).body.error).toBe('invalid_client');
  });

  it('oauth 21 leaves no code, cookie or token in events, lines of the log or the cache', async () => {
    const before = await fixture.head();
    const page = browser(fixture);
    const done = await authorized(fixture, { client: spa, account: bob, page });
    await untilTrue(async () => fixture.lines.length > 0, { what: 'a line of the log' });
    const events = JSON.stringify(await fixture.eventsSince(before), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    const cookies = [...page.jar.values()].map(({ value }) => value);
    const secrets = [done.access_token, done.refresh_token, done.id_token, done.exchange.code];
    const everything = `${events}${fixture.lines.join()}`;
    for (const secret of [...secrets, done.exchange.code_verifier, ...cookies]) {
      expect(secret.length).toBeGreaterThan(8);
      expect(everything).not.toContain(secret);
    }
  });
});

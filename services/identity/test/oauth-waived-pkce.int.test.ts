/** Confidential applications that omit PKCE, and that this weakens no other client. */
import { Strategy } from 'passport-openidconnect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  application,
  authorizeUrl,
  browser,
  fetchOf,
  oauthOfFile,
  pkce,
  REDIRECT,
  signIn,
  type TestClient,
  token,
} from './oauth-fixture.ts';
import { type PassportSite, passportSite } from './passport-fixture.ts';

// Its types would add browser types to the whole program.
const AUTH_JS: string = '@auth/core';

const { fixture, admin } = oauthOfFile();
let site: PassportSite;
beforeAll(async () => {
  site = await passportSite();
});
afterAll(() => site?.stop());

const waived = (more: object = {}) =>
  application(fixture, admin, { type: 'web', first_party: true, require_pkce: false, ...more });

/** Follows an authorization request to the address to which the browser is redirected. */
async function signedInAt(url: string): Promise<URL> {
  const { pathname, search } = new URL(url);
  const page = browser(fixture);
  const { location } = await page.get(pathname + search);
  const { email } = admin;
  const { body } = await page.post(`${location}/login`, {
    ...{ email, password: 'correct horse battery' },
  });
  return new URL((await page.get(body.redirect_to)).location);
}

describe('an application that knows no PKCE signs a person in by its state alone', () => {
  it('with passport-openidconnect [oauth 40]', async () => {
    const { home } = site;
    const callbackURL = `${home}/callback`;
    const { client_id: clientID, client_secret: clientSecret = '' } = await waived({
      redirect_uris: [callbackURL],
    });
    const { issuer, baseUrl } = fixture;
    const endpoints = {
      authorizationURL: `${issuer}/oauth2/authorize`,
      tokenURL: `${baseUrl}/oauth2/token`,
      userInfoURL: `${baseUrl}/oauth2/userinfo`,
    };
    site.use(
      new Strategy(
        { issuer, ...endpoints, clientID, clientSecret, callbackURL, scope: ['profile', 'email'] },
        (iss: string, profile: object, done: (error: null, user: object) => void) =>
          done(null, { iss, profile }),
      ),
    );
    const sent = await fetch(`${home}/login`, { redirect: 'manual' });
    const to = new URL(sent.headers.get('location') ?? '');
    expect([...to.searchParams.keys()].sort()).toEqual(
      ['client_id', 'redirect_uri', 'response_type', 'scope', 'state'].sort(),
    );
    const back = await signedInAt(to.href);
    const answer = await fetch(back);
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { iss: issuer, profile: { id: admin.userId } },
    ]);
    const foreign = new URL(back);
    foreign.searchParams.set('state', 'another');
    expect((await fetch(foreign)).status).toBe(403);
  });

  it('with Auth.js [oauth 40]', async () => {
    const home = 'http://127.0.0.1:9';
    const { client_id: clientId, client_secret: clientSecret = '' } = await waived({
      redirect_uris: [`${home}/auth/callback/cardea`],
    });
    const { Auth, customFetch, skipCSRFCheck } = await import(AUTH_JS);
    const config = {
      ...{ basePath: '/auth', secret: 'a secret of the web application', trustHost: true },
      skipCSRFCheck,
      providers: [
        {
          ...{ id: 'cardea', name: 'Cardea', type: 'oidc', checks: ['state'] },
          ...{ issuer: fixture.issuer, clientId, clientSecret },
          [customFetch]: fetchOf(fixture),
        },
      ],
    };
    const begun = await Auth(
      new Request(`${home}/auth/signin/cardea`, { method: 'POST', body: new URLSearchParams() }),
      config,
    );
    const to = new URL(begun.headers.get('location') ?? '');
    expect(to.origin).toBe(fixture.issuer);
    expect(to.searchParams.has('state')).toBe(true);
    expect(to.searchParams.has('code_challenge')).toBe(false);
    const back = await signedInAt(to.href);
    const done = await Auth(new Request(back, { headers: cookiesOf(begun) }), config);
    expect(done.status).toBe(302);
    const session = await Auth(
      new Request(`${home}/auth/session`, { headers: cookiesOf(done) }),
      config,
    );
    expect(await session.json()).toMatchObject({ user: { email: admin.email } });
  });
});

const cookiesOf = (answer: Response) => ({
  cookie: answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; '),
});

describe('the waiver of PKCE', () => {
  it('is for type web alone [oauth 40]', async () => {
    const rest = fixture.as(admin);
    const path = '/api/v1/admin/applications';
    const redirect_uris = ['https://app.example.com/callback'];
    const refused = {
      status: 400,
      body: {
        error: {
          code: 'invalid_request',
          details: [{ field: 'require_pkce', rule: 'web_only' }],
        },
      },
    };
    for (const body of [
      { type: 'spa', redirect_uris },
      { type: 'native', redirect_uris },
      { type: 'm2m' },
    ]) {
      const made = await rest.post(path, { name: 'Shop', ...body });
      expect(made.body).toMatchObject({ require_pkce: true });
      const change = { require_pkce: false };
      expect(await rest.post(path, { name: 'Shop', ...body, ...change })).toMatchObject(refused);
      expect(await rest.patch(`${path}/${made.body.id}`, change)).toMatchObject(refused);
    }
    const web = await waived();
    const listed = await rest.get(path);
    expect(listed.body.applications).toContainEqual(
      expect.objectContaining({ id: web.id, require_pkce: false }),
    );
  });

  it('is needed to leave the challenge out, and can be taken back [oauth 40]', async () => {
    const web = await waived();
    const missing = { code_challenge_method: '' };
    expect(await pushed(web)).toMatchObject({ status: 201 });
    const back = await signIn(browser(fixture), authorizeUrl(web, missing), { account: admin });
    expect(back.searchParams.get('code')).toBeTruthy();
    const path = `/api/v1/admin/applications/${web.id}`;
    await fixture.as(admin).patch(path, { require_pkce: true });
    expect(await pushed(web)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    const { location } = await browser(fixture).get(authorizeUrl(web, missing));
    expect(Object.fromEntries(new URL(location).searchParams)).toMatchObject({
      ...{ error: 'invalid_request', state: 'the-state', iss: fixture.issuer },
    });
    // Codes from before the change are void (bounds P3).
    const code = back.searchParams.get('code') ?? '';
    expect(await exchanged(web, { code })).toMatchObject(INVALID_GRANT);
  });

  it('lets no challenge go unchecked that was sent [oauth 40]', async () => {
    const web = await waived();
    const { verifier, challenge } = pkce();
    const codeOf = async (more: { [name: string]: string }) => {
      const back = await signIn(browser(fixture), authorizeUrl(web, more), { account: admin });
      return back.searchParams.get('code') ?? '';
    };
    const sent = { code_challenge: challenge };
    const wrong = { code_verifier: 'x'.repeat(43) };
    expect(await exchanged(web, { code: await codeOf(sent), ...wrong })).toMatchObject(
      INVALID_GRANT,
    );
    // Another person's code, injected by an attacker who dropped one of the two (RFC 9700, 4.8).
    expect(await exchanged(web, { code: await codeOf(sent) })).toMatchObject(INVALID_GRANT);
    const stripped = await codeOf({ code_challenge_method: '' });
    const right = { code_verifier: verifier };
    expect(await exchanged(web, { code: stripped, ...right })).toMatchObject(INVALID_GRANT);
    expect(await exchanged(web, { code: await codeOf(sent), ...right })).toMatchObject({
      status: 200,
    });
    const plain = authorizeUrl(web, { code_challenge: verifier, code_challenge_method: 'plain' });
    const { location } = await browser(fixture).get(plain);
    expect(new URL(location).searchParams.get('error')).toBe('invalid_request');
  });
});

const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } };

const exchanged = ({ client_id, client_secret = '' }: TestClient, more: object) =>
  token(fixture, {
    ...{ grant_type: 'authorization_code', client_id, client_secret, redirect_uri: REDIRECT },
    ...more,
  });

async function pushed({ client_id, client_secret = '' }: TestClient) {
  const form = { response_type: 'code', redirect_uri: REDIRECT, scope: 'openid' };
  const answer = await fetch(`${fixture.baseUrl}/oauth2/par`, {
    method: 'POST',
    body: new URLSearchParams({ client_id, client_secret, ...form }),
  });
  return { status: answer.status, body: await answer.json() };
}

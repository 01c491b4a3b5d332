/**
 * The modules of the OpenID Foundation's conformance suite for a basic provider, under their names, with openid-client
 * over https. Like the suite's, the client uses no PKCE. `docs/security/oidf.md` has the results.
 */
import { untilTrue } from '@cardea/testing';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, ofFile } from './identity-fixture.ts';
import {
  application,
  authorizeUrl,
  type Browser,
  browser,
  clientOf,
  fetchOf,
  REDIRECT,
  signIn,
  type TestClient,
} from './oauth-fixture.ts';
import { secureFixture } from './secure-fixture.ts';

const { fixture, admin } = ofFile(secureFixture);
const REUSE_MS = 30_000;
let client: TestClient;
let config: openid.Configuration;
let ann: Account;
beforeAll(async () => {
  client = await application(fixture, admin, { type: 'web', require_pkce: false });
  config = await clientOf(
    fixture,
    client.client_id,
    openid.ClientSecretBasic(client.client_secret ?? ''),
  );
  ann = await fixture.registerVerified(admin.tenantId);
  await fixture.as(ann).patch('/api/v1/user/profile', { display_name: 'Ann' });
});

type Asked = { readonly [parameter: string]: string };

/** An authorization request without PKCE, as a path at the issuer. */
function requested(asked: Asked): string {
  const all = { redirect_uri: REDIRECT, scope: 'openid', ...asked };
  const { pathname, search } = openid.buildAuthorizationUrl(config, all);
  return pathname + search;
}

/** A whole flow of Ann's, up to the tokens. */
async function flow(asked: Asked = {}, page: Browser = browser(fixture), by = config) {
  const [state, nonce] = [openid.randomState(), openid.randomNonce()];
  const back = await signIn(page, requested({ state, nonce, ...asked }), { account: ann });
  const checks = { expectedState: state, expectedNonce: nonce };
  const tokens = await openid.authorizationCodeGrant(by, back, checks);
  return { page, back, tokens, claims: tokens.claims() };
}

/** Returns where a browser is redirected without any action of a person. */
const sentTo = async (page: Browser, asked: Asked): Promise<string> =>
  (await page.get(requested({ state: 'the-state', ...asked }))).location;
const errorOf = (location: string) => new URL(location).searchParams.get('error');

const succeeds = (asked: Asked) => async () => {
  expect((await flow(asked)).claims).toMatchObject({ sub: ann.userId });
};

const userinfo = (init: RequestInit) => fetch(`${fixture.baseUrl}/oauth2/userinfo`, init);

const MODULES: { readonly [module: string]: () => Promise<void> } = {
  'oidcc-discovery-endpoint-verification': async () => {
    const found = config.serverMetadata();
    expect(found.issuer).toBe(fixture.issuer);
    const endpoints = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'];
    for (const name of endpoints) {
      expect(new URL(String(found[name as keyof typeof found])).origin).toBe(fixture.issuer);
    }
    expect(found.response_types_supported).toContain('code');
    expect(found.subject_types_supported).toContain('public');
    expect(found['id_token_signing_alg_values_supported']).toContain('RS256');
    const { body } = await fixture.rest.get('/oauth2/jwks');
    for (const key of body.keys) expect(Object.keys(key)).toEqual(expect.arrayContaining(['kid']));
  },
  'oidcc-server': async () => {
    const { page, claims, back } = await flow();
    expect([...page.jar.keys()]).toContain('__Host-cardea_session /');
    expect(claims).toMatchObject({ iss: fixture.issuer, aud: client.client_id, sub: ann.userId });
    expect(back.searchParams.get('iss')).toBe(fixture.issuer);
  },
  'oidcc-response-type-missing': async () => {
    const url = new URL(authorizeUrl(client), fixture.issuer);
    url.searchParams.delete('response_type');
    const { location } = await browser(fixture).get(url.pathname + url.search);
    expect(errorOf(location)).toBe('invalid_request');
  },
  'oidcc-idtoken-signature': async () => {
    const { tokens } = await flow();
    const keys = createRemoteJWKSet(new URL(`${fixture.issuer}/oauth2/jwks`), {
      [customFetch]: fetchOf(fixture) as typeof fetch,
    });
    const { protectedHeader } = await jwtVerify(tokens.id_token ?? '', keys);
    expect(protectedHeader.alg).toBe('RS256');
  },
  'oidcc-userinfo-get': async () => {
    const { tokens } = await flow();
    const info = await openid.fetchUserInfo(config, tokens.access_token, ann.userId);
    expect(info.sub).toBe(ann.userId);
  },
  'oidcc-userinfo-post-header': async () => {
    const { tokens } = await flow();
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    const answer = await userinfo({ method: 'POST', headers });
    expect(await answer.json()).toMatchObject({ sub: ann.userId });
  },
  'oidcc-userinfo-post-body': async () => {
    const { tokens } = await flow();
    const body = new URLSearchParams({ access_token: tokens.access_token });
    expect((await userinfo({ method: 'POST', body })).status).toBe(401);
  },
  'oidcc-ensure-request-without-nonce-succeeds-for-code-flow': async () => {
    const state = openid.randomState();
    const back = await signIn(browser(fixture), requested({ state }), { account: ann });
    const tokens = await openid.authorizationCodeGrant(config, back, { expectedState: state });
    expect(tokens.claims()).not.toHaveProperty('nonce');
  },
  'oidcc-scope-profile': () => shows('openid profile', { name: 'Ann' }),
  'oidcc-scope-email': () => shows('openid email', { email: ann.email, email_verified: true }),
  'oidcc-scope-all': () => shows('openid profile email', { name: 'Ann', email: ann.email }),
  'oidcc-ensure-other-scope-order-succeeds': () => shows('email openid', { email: ann.email }),
  'oidcc-display-page': succeeds({ display: 'page' }),
  'oidcc-display-popup': succeeds({ display: 'popup' }),
  'oidcc-prompt-login': async () => {
    const { page } = await flow();
    expect(await promptAt(page, { prompt: 'login' })).toBe('login');
  },
  'oidcc-prompt-none-not-logged-in': async () => {
    const location = await sentTo(browser(fixture), { prompt: 'none' });
    expect(errorOf(location)).toBe('login_required');
  },
  'oidcc-prompt-none-logged-in': async () => {
    const first = await flow();
    const second = await flow({ prompt: 'none' }, first.page);
    expect(second.claims?.sub).toBe(first.claims?.sub);
  },
  'oidcc-max-age-1': async () => {
    const { page, claims } = await flow({ max_age: '10000' });
    expect(claims).toHaveProperty('auth_time');
    // The library reads the system clock, so a second has to pass.
    await untilTrue(async () => (await promptAt(page, { max_age: '1' })) === 'login');
  },
  'oidcc-max-age-10000': async () => {
    const first = await flow({ max_age: '10000' });
    const second = await flow({ max_age: '10000' }, first.page);
    expect(second.claims?.auth_time).toBe(first.claims?.auth_time);
  },
  'oidcc-ensure-request-with-unknown-parameter-succeeds': succeeds({ extra: 'foobar' }),
  'oidcc-id-token-hint': async () => {
    const { page, tokens } = await flow();
    const hint = { prompt: 'none', id_token_hint: tokens.id_token ?? '' };
    expect((await flow(hint, page)).claims?.sub).toBe(ann.userId);
  },
  'oidcc-login-hint': async () => {
    const page = browser(fixture);
    const location = await sentTo(page, { login_hint: ann.email });
    const { body } = await page.get(location, { accept: 'application/json' });
    expect(body.login_hint).toBe(ann.email);
  },
  'oidcc-ui-locales': succeeds({ ui_locales: 'se' }),
  'oidcc-claims-locales': succeeds({ claims_locales: 'se' }),
  'oidcc-ensure-request-with-acr-values-succeeds': async () => {
    const { claims } = await flow({ acr_values: '1 2' });
    expect(claims).not.toHaveProperty('acr');
  },
  'oidcc-codereuse': () => reusedAfter(0),
  'oidcc-codereuse-30seconds': () => reusedAfter(REUSE_MS),
  'oidcc-ensure-registered-redirect-uri': async () => {
    const asked = requested({ redirect_uri: `${REDIRECT}/other` });
    const { status, location } = await browser(fixture).get(asked);
    expect([status, location]).toEqual([400, '']);
  },
  'oidcc-ensure-post-request-succeeds': async () => {
    const state = openid.randomState();
    const page = browser(fixture);
    const { searchParams } = new URL(requested({ state }), fixture.issuer);
    const { location } = await page.form('/oauth2/authorize', Object.fromEntries(searchParams));
    const { pathname, search } = new URL(location, fixture.issuer);
    const back = await signIn(page, pathname + search, { account: ann });
    const tokens = await openid.authorizationCodeGrant(config, back, { expectedState: state });
    expect(tokens.claims()?.sub).toBe(ann.userId);
  },
  'oidcc-server-client-secret-post': async () => {
    const { client_id, client_secret = '' } = client;
    const byForm = await clientOf(fixture, client_id, openid.ClientSecretPost(client_secret));
    expect((await flow({}, browser(fixture), byForm)).claims?.sub).toBe(ann.userId);
  },
  'oidcc-refresh-token': async () => {
    const { tokens } = await flow({ scope: 'openid offline_access' });
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(next.claims()?.sub).toBe(ann.userId);
  },
  'oidcc-ensure-request-with-valid-pkce-succeeds': async () => {
    const [state, verifier] = [openid.randomState(), openid.randomPKCECodeVerifier()];
    const code_challenge = await openid.calculatePKCECodeChallenge(verifier);
    const asked = requested({ state, code_challenge, code_challenge_method: 'S256' });
    const back = await signIn(browser(fixture), asked, { account: ann });
    const checks = { expectedState: state, pkceCodeVerifier: verifier };
    const tokens = await openid.authorizationCodeGrant(config, back, checks);
    expect(tokens.claims()?.sub).toBe(ann.userId);
  },
};

async function shows(scope: string, expected: object) {
  const { tokens } = await flow({ scope });
  const info = await openid.fetchUserInfo(config, tokens.access_token, ann.userId);
  expect(info).toMatchObject(expected);
}

/** The page that a signed-in browser's request leads to. */
async function promptAt(page: Browser, asked: Asked): Promise<string | undefined> {
  const shown = await page.get(await sentTo(page, asked), { accept: 'application/json' });
  return shown.body?.prompt;
}

/** A code that is used a second time is refused and ends the session of the first use. */
async function reusedAfter(ms: number) {
  const { back, tokens } = await flow();
  fixture.clock.move(ms);
  const expectedState = back.searchParams.get('state') ?? '';
  const again = openid.authorizationCodeGrant(config, back, { expectedState });
  await expect(again).rejects.toMatchObject({ error: 'invalid_grant' });
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  expect((await userinfo({ headers })).status).toBe(401);
}

describe('the basic plan', () => {
  it.each(Object.entries(MODULES))('%s [oauth 41]', async (_module, play) => play());
});

describe('the plan of form_post', () => {
  it('oidcc-server, whose answer is a form that posts itself [oauth 41]', async () => {
    const { page } = await flow();
    const asked = requested({ state: 'the-state', response_mode: 'form_post' });
    const { status, text } = await page.get(asked);
    expect(status).toBe(200);
    expect(text).toContain(`action="${REDIRECT}"`);
    const fields = [...text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name]) => name);
    expect(fields).toEqual(expect.arrayContaining(['code', 'state', 'iss']));
  });
});

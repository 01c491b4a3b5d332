/**
 * The modules of the OpenID Foundation's conformance suite for logout, under their names, over https.
 * `docs/security/oidf.md` has the results.
 */
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimsOf, ofFile } from './identity-fixture.ts';
import { type LogoutReceiver, logoutReceiver } from './logout-receiver.ts';
import { application, authorized, clientOf, oauthCalls, type TestClient } from './oauth-fixture.ts';
import { secureFixture } from './secure-fixture.ts';

const { fixture, admin } = ofFile(secureFixture);
const { authorize } = oauthCalls(() => fixture);
const BYE = 'http://127.0.0.1:9/bye';
let receiver: LogoutReceiver;
let client: TestClient;
let config: openid.Configuration;
beforeAll(async () => {
  receiver = await logoutReceiver(() => fixture);
  client = await application(fixture, admin, {
    first_party: true,
    post_logout_redirect_uris: [BYE],
    backchannel_logout_uri: receiver.uri,
  });
  config = await clientOf(fixture, client.client_id, openid.None());
});
afterAll(() => receiver?.close());

type Asked = { readonly [parameter: string]: string };

/** A signed-in browser, and the page or redirect that it gets when it requests a sign-out. */
async function signedIn() {
  const { page, id_token } = await authorized(fixture, { client, account: admin });
  return {
    idToken: id_token as string,
    idTokenHint: { id_token_hint: id_token as string },
    end: (asked: Asked) => page.get(`/oauth2/session/end?${new URLSearchParams(asked)}`),
    isSignedIn: async () =>
      (await page.get(authorize(client, { prompt: 'none' }))).location.includes('code='),
  };
}

/** The browser shows a question or an error page. It is not redirected, and nobody is signed out. */
async function asksOrRefuses(asked: Asked, ...statuses: readonly number[]) {
  const { end, isSignedIn } = await signedIn();
  const { status, location } = await end(asked);
  expect(statuses).toContain(status);
  expect(location).toBe('');
  expect(await isSignedIn()).toBe(true);
}

const MODULES: { readonly [module: string]: () => Promise<void> } = {
  'oidcc-rp-initiated-logout': async () => {
    const { end, idTokenHint, isSignedIn } = await signedIn();
    const asked = { ...idTokenHint, post_logout_redirect_uri: BYE, state: 'the-state' };
    const { status, location } = await end(asked);
    expect([status, location]).toEqual([303, `${BYE}?state=the-state`]);
    expect(await isSignedIn()).toBe(false);
  },
  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': async () => {
    const { end, idTokenHint, isSignedIn } = await signedIn();
    const asked = { ...idTokenHint, post_logout_redirect_uri: `${BYE}/other`, state: 'the-state' };
    const { status, location } = await end(asked);
    expect([status, location, await isSignedIn()]).toEqual([400, '', true]);
  },
  'oidcc-rp-initiated-logout-modified-id-token-hint': async () => {
    const { idToken, end, isSignedIn } = await signedIn();
    const [header, payload, signature = ''] = idToken.split('.');
    const modified = [header, payload, signature.split('').reverse().join('')].join('.');
    const asked = { id_token_hint: modified, post_logout_redirect_uri: BYE, state: 'the-state' };
    const { location } = await end(asked);
    expect([location, await isSignedIn()]).toEqual(['', true]);
  },
  'oidcc-rp-initiated-logout-no-id-token-hint': () =>
    asksOrRefuses({ post_logout_redirect_uri: BYE, state: 'the-state' }, 200, 400),
  'oidcc-rp-initiated-logout-no-params': () => asksOrRefuses({}, 200),
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': async () => {
    const { end, idTokenHint, isSignedIn } = await signedIn();
    const { status, text } = await end({ ...idTokenHint, state: 'the-state' });
    expect([status, await isSignedIn()]).toEqual([200, false]);
    expect(text).toContain('You are signed out');
  },
  'oidcc-rp-initiated-logout-no-state': async () => {
    const { end, idTokenHint, isSignedIn } = await signedIn();
    const { location } = await end({ ...idTokenHint, post_logout_redirect_uri: BYE });
    expect([location, await isSignedIn()]).toEqual([BYE, false]);
  },
  'oidcc-rp-initiated-logout-only-state': () => asksOrRefuses({ state: 'the-state' }, 200),
  'oidcc-rp-initiated-logout-discovery-endpoint-verification': async () => {
    const { end_session_endpoint } = config.serverMetadata();
    expect(end_session_endpoint).toBe(`${fixture.issuer}/oauth2/session/end`);
  },
  'oidcc-backchannel-rp-initiated-logout': async () => {
    const { idToken, end, idTokenHint } = await signedIn();
    await end({ ...idTokenHint, post_logout_redirect_uri: BYE, state: 'the-state' });
    const { sid, sub } = claimsOf(idToken);
    const { claims } = await receiver.notice((notice) => notice.claims.sid === sid);
    expect(claims).toMatchObject({ sub, aud: client.client_id });
  },
  'oidcc-backchannel-logout-discovery-endpoint-verification': async () => {
    expect(config.serverMetadata()).toMatchObject({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    });
  },
};

describe('the plan of logout', () => {
  it.each(Object.entries(MODULES))('%s [oauth 41]', async (_module, play) => play());
});

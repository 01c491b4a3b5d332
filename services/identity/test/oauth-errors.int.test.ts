/** Errors of the code flow with the RFCs' error codes, as `oauth4webapi` reads them. */
import * as oauth from 'oauth4webapi';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  application,
  authorizeUrl,
  browser,
  fetchOf,
  oauthOfFile,
  REDIRECT,
  signIn,
  type TestClient,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
let client: TestClient;
let other: TestClient;
let server: oauth.AuthorizationServer;
let options: object;
beforeAll(async () => {
  client = await application(fixture, admin);
  other = await application(fixture, admin);
  options = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: fetchOf(fixture) };
  const issuer = new URL(fixture.issuer);
  const answer = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' });
  server = await oauth.processDiscoveryResponse(issuer, answer);
});
afterEach(() => {
  vi.useRealTimers();
});

type Exchange = {
  readonly verifier: string;
  readonly redirectUri: string;
  readonly by: TestClient;
};

async function exchanged(change: (right: Exchange) => Exchange, meanwhile = () => {}) {
  const verifier = oauth.generateRandomCodeVerifier();
  const code_challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const url = authorizeUrl(client, { code_challenge, scope: 'openid' });
  const back = await signIn(browser(fixture), url, { account: admin });
  meanwhile();
  const callback = oauth.validateAuthResponse(server, client, back, 'the-state');
  const {
    by,
    redirectUri,
    verifier: said,
  } = change({ verifier, redirectUri: REDIRECT, by: client });
  const of = { client_id: by.client_id };
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    of,
    oauth.None(),
    // The response to the right client, so that another client can send its contents.
    callback,
    redirectUri,
    said,
    options,
  );
  return oauth.processAuthorizationCodeResponse(server, of, answer);
}

describe('an exchange of a code with oauth4webapi', () => {
  it('oauth 5 is answered with tokens where everything is right', async () => {
    const tokens = await exchanged((right) => right);
    expect(tokens.token_type).toBe('bearer');
  });

  it.each<[string, (right: Exchange) => Exchange]>([
    ['a wrong verifier', (right) => ({ ...right, verifier: 'x'.repeat(43) })],
    ['a changed redirect URI', (right) => ({ ...right, redirectUri: `${REDIRECT}/` })],
    ["another client's code", (right) => ({ ...right, by: other })],
  ])('oauth 5 is refused with %s', async (_what, change) => {
    await expect(exchanged(change)).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });

  it('oauth 5 is refused a minute after the code was given', async () => {
    const late = exchanged(
      (right) => right,
      () => {
        vi.useFakeTimers({ toFake: ['Date'] });
        vi.setSystemTime(Date.now() + 61_000);
      },
    );
    await expect(late).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });
  });

  it.each<[string, { [name: string]: string }]>([
    ['a plain challenge', { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }],
    ['no challenge', { code_challenge: '', code_challenge_method: '' }],
    ['a challenge that is none', { code_challenge: 'short' }],
  ])('oauth 5 is never reached with %s', async (_what, more) => {
    const answer = await browser(fixture).get(authorizeUrl(client, more));
    expect(answer.status).toBe(303);
    const back = new URL(answer.location);
    expect(() => oauth.validateAuthResponse(server, client, back, 'the-state')).toThrow(
      expect.objectContaining({ error: 'invalid_request' }),
    );
  });
});

import * as openid from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  browser,
  clientOf,
  oauthCalls,
  oauthOfFile,
  pkce,
  REDIRECT,
  signIn,
  token,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
let bob: Account;
beforeAll(async () => {
  bob = await fixture.register(admin.tenantId);
});

const { introspect } = oauthCalls(() => fixture);

async function ownKey(kid = 'one') {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  return { key: { key: pair.privateKey, kid }, jwk: { kty, crv, x, y, kid, alg: 'ES256' } };
}

const failuresSince = async (position: bigint) =>
  (await fixture.eventsSince(position))
    .filter(({ type }) => type === 'ClientAuthFailed')
    .map(({ data }) => data);

describe('a client that signs what it says', () => {
  it('oauth 1 gets tokens with openid-client by private_key_jwt, pushed request and all', async () => {
    const { key, jwk } = await ownKey();
    const client = await application(fixture, admin, {
      ...{ type: 'web', first_party: true, require_par: true, jwks: [jwk] },
    });
    const config = await clientOf(fixture, client.client_id, openid.PrivateKeyJwt(key));
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const url = await openid.buildAuthorizationUrlWithPAR(config, {
      redirect_uri: REDIRECT,
      scope: 'openid email',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    expect(url.searchParams.get('request_uri')).not.toBeNull();
    const back = await signIn(browser(fixture), url.pathname + url.search, { account: bob });
    const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier });
    expect(tokens.claims()).toMatchObject({ sub: bob.userId, email: bob.email });
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(claimsOf(next.access_token)).toMatchObject({ client_id: client.client_id });
    await openid.tokenRevocation(config, next.refresh_token ?? '');
    expect(await introspect(next.access_token)).toEqual({ active: false });
  });

  it('oauth 5 is refused with a key of somebody else, with a secret, and with what it said before', async () => {
    const [{ key, jwk }, other] = [await ownKey(), await ownKey()];
    const client = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], scopes: ['openid'], jwks: [jwk] },
    });
    const { client_id } = client;
    const before = await fixture.head();
    const foreign = await clientOf(fixture, client_id, openid.PrivateKeyJwt(other.key));
    await expect(openid.clientCredentialsGrant(foreign)).rejects.toMatchObject({
      error: 'invalid_client',
    });
    const grant_type = 'client_credentials';
    const secret = await token(fixture, { grant_type, client_id, client_secret: 'cs_none' });
    expect([secret.status, secret.body.error]).toEqual([401, 'invalid_client']);
    let said = new URLSearchParams();
    const config = await clientOf(fixture, client_id, openid.PrivateKeyJwt(key), {
      said: (body) => {
        said = new URLSearchParams(body);
      },
    });
    const own = await openid.clientCredentialsGrant(config);
    expect(claimsOf(own.access_token)).toMatchObject({ sub: client_id, client_id });
    const again = await token(fixture, Object.fromEntries(said));
    expect([again.status, again.body.error]).toEqual([401, 'invalid_client']);
    const reasons = (await failuresSince(before)).map(
      (data) => (data as { reason: string }).reason,
    );
    expect(reasons).toEqual(['wrong_assertion', 'wrong_method', 'wrong_assertion']);
  });

  it('oauth 1 9 asks about tokens of its tenant with openid-client, each time by an assertion of its own', async () => {
    const [{ key, jwk }, other] = [await ownKey(), await ownKey()];
    const { client_id } = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], scopes: ['openid'], jwks: [jwk] },
    });
    let said = '';
    const config = await clientOf(fixture, client_id, openid.PrivateKeyJwt(key), {
      said: (body) => {
        said = body;
      },
    });
    const methods = config.serverMetadata().introspection_endpoint_auth_methods_supported;
    expect(methods).toContain('private_key_jwt');
    const { access_token } = await openid.clientCredentialsGrant(config);
    const atToken = new URLSearchParams(said);
    const live = { active: true, client_id };
    expect(await openid.tokenIntrospection(config, access_token)).toMatchObject(live);
    const atIntrospection = new URLSearchParams(said);
    expect(atIntrospection.get('client_assertion')).not.toBeNull();
    expect(await openid.tokenIntrospection(config, access_token)).toMatchObject(live);
    const stranger = await fixture.signUp('stranger');
    expect((await openid.tokenIntrospection(config, stranger.access)).active).toBe(false);

    const before = await fixture.head();
    const foreign = await clientOf(fixture, client_id, openid.PrivateKeyJwt(other.key));
    const refused = openid.tokenIntrospection(foreign, access_token);
    await expect(refused).rejects.toMatchObject({ status: 401 });
    atToken.set('token', access_token);
    const secret = { token: access_token, client_id, client_secret: 'cs_none' };
    for (const form of [atToken, atIntrospection, new URLSearchParams(secret)]) {
      const answer = await fetch(`${fixture.baseUrl}/oauth2/introspect`, {
        method: 'POST',
        body: form,
      });
      expect([answer.status, await answer.json()]).toMatchObject([
        401,
        { error: 'invalid_client' },
      ]);
    }
    const [assertion, method] = ['wrong_assertion', 'wrong_method'];
    expect(await failuresSince(before)).toMatchObject(
      [assertion, assertion, assertion, method].map((reason) => ({ client_id, reason })),
    );
    expect((await token(fixture, Object.fromEntries(atIntrospection))).status).toBe(401);
  });

  it('oauth 5 is believed once where it says the same to several at once', async () => {
    const { key, jwk } = await ownKey();
    const client = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], scopes: ['openid'], jwks: [jwk] },
    });
    let said = '';
    const config = await clientOf(fixture, client.client_id, openid.PrivateKeyJwt(key), {
      said: (body) => {
        said = body;
      },
      isMute: true,
    });
    await openid.clientCredentialsGrant(config).catch(() => undefined);
    const form = Object.fromEntries(new URLSearchParams(said));
    const answers = await Promise.all(Array.from({ length: 8 }, () => token(fixture, form)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('a client that shows a wrong secret', () => {
  it('is recorded, at the token endpoint and at introspection, 60 times a minute at most', async () => {
    const client = await application(fixture, admin, { type: 'm2m', redirect_uris: [] });
    const { client_id, client_secret = '' } = client;
    const before = await fixture.head();
    const wrong = `${client_secret.slice(0, -1)}${client_secret.endsWith('x') ? 'y' : 'x'}`;
    const form = { grant_type: 'client_credentials', client_id, client_secret: wrong };
    expect((await token(fixture, form)).status).toBe(401);
    const body = { token: 'x', client_id, client_secret: wrong };
    expect((await fixture.rest.post('/oauth2/introspect', body)).status).toBe(401);
    const failures = await failuresSince(before);
    expect(failures).toMatchObject([
      { client_id, reason: 'wrong_secret' },
      { client_id, reason: 'wrong_secret' },
    ]);
    expect(JSON.stringify(failures)).not.toContain(wrong);
    const nobody = { ...form, client_id: 'nobody' };
    expect((await token(fixture, nobody)).status).toBe(401);
    expect(await failuresSince(before)).toHaveLength(2);
  });
});

describe('a used code', () => {
  it('oauth 5 ends nothing in the hands of another client', async () => {
    const client = await application(fixture, admin);
    const other = await application(fixture, admin);
    const done = await authorized(fixture, { client, account: bob });
    const foreign = await token(fixture, { ...done.exchange, client_id: other.client_id });
    expect(foreign.body.error).toBe('invalid_grant');
    expect((await introspect(done.access_token)).active).toBe(true);
    expect((await token(fixture, done.exchange)).body.error).toBe('invalid_grant');
    expect((await introspect(done.access_token)).active).toBe(false);
  });
});

describe('a request that comes as a form', () => {
  it('is the same as its address', async () => {
    const client = await application(fixture, admin);
    const page = browser(fixture);
    const query = {
      ...{ client_id: client.client_id, response_type: 'code', redirect_uri: REDIRECT },
      ...{ scope: 'openid', state: 's', code_challenge_method: 'S256' },
      code_challenge: pkce().challenge,
    };
    const sent = await page.form('/oauth2/authorize', query, { origin: 'https://rp.example' });
    expect(sent.status).toBe(303);
    const back = await signIn(page, sent.location, { account: bob });
    expect(back.searchParams.get('code')).not.toBeNull();
    const { code_challenge: _none, ...without } = query;
    const refused = await page.form('/oauth2/authorize', without);
    expect((await page.get(refused.location)).location).toContain('error=invalid_request');
  });
});

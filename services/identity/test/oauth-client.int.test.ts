import * as openid from 'openid-client';
import { describe, expect, it } from 'vitest';
import { claimsOf } from './identity-fixture.ts';
import { application, browser, oauthOfFile, REDIRECT, signIn } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();

describe('an application with openid-client', () => {
  it('oauth 1 gets tokens by a code, is told of its user, refreshes, and is shut out by them', async () => {
    const client = await application(fixture, admin);
    const bob = await fixture.register(admin.tenantId);
    // Only this test routes the issuer's address to the fixture.
    const config = await openid.discovery(
      new URL(fixture.issuer),
      client.client_id,
      undefined,
      openid.None(),
      {
        execute: [openid.allowInsecureRequests],
        [openid.customFetch]: (url, options) =>
          fetch(url.replace(fixture.issuer, fixture.baseUrl), options as RequestInit),
      },
    );
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const nonce = openid.randomNonce();
    const expectedState = openid.randomState();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT,
      scope: 'openid profile email',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce,
    });
    const back = await signIn(browser(fixture), url.pathname + url.search, { account: bob });
    const checks = { pkceCodeVerifier, expectedNonce: nonce, expectedState };
    const tokens = await openid.authorizationCodeGrant(config, back, checks);
    expect(tokens.claims()).toMatchObject({
      sub: bob.userId,
      email: bob.email,
      nonce,
      amr: ['pwd'],
    });
    expect(tokens.claims()).not.toHaveProperty('acr');
    expect(claimsOf(tokens.access_token)).toMatchObject({
      sub: bob.userId,
      aud: `${fixture.issuer}/api`,
      client_id: client.client_id,
      scope: 'openid profile email',
      email: bob.email,
      tid: admin.tenantId,
    });
    expect(claimsOf(tokens.access_token)).not.toHaveProperty('roles');

    const info = await openid.fetchUserInfo(config, tokens.access_token, bob.userId);
    expect(info).toMatchObject({ sub: bob.userId, name: 'bob', email: bob.email });
    const introspected = await openid.tokenIntrospection(config, tokens.access_token);
    expect(introspected).toMatchObject({ active: true, client_id: client.client_id });

    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(next.claims()).toMatchObject({ sub: bob.userId });
    const again = await openid.fetchUserInfo(config, next.access_token, bob.userId);
    expect(again.email).toBe(bob.email);

    const rest = fixture.as(bob);
    const { consents } = (await rest.get('/api/v1/auth/consents')).body;
    expect(consents).toMatchObject([
      { client_id: client.client_id, scopes: ['openid', 'profile', 'email'] },
    ]);
    expect((await rest.delete(`/api/v1/auth/consents/${consents[0].id}`)).status).toBe(200);
    expect((await openid.tokenIntrospection(config, next.access_token)).active).toBe(false);
    await expect(openid.fetchUserInfo(config, next.access_token, bob.userId)).rejects.toThrow();
    await expect(openid.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect((await rest.delete(`/api/v1/auth/consents/${consents[0].id}`)).status).toBe(404);
  });
});

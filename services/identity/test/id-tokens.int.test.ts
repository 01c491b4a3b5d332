/** The id_tokens of applications: their signatures, their claims, and where they are refused. */
import { createRemoteJWKSet, customFetch, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { signingKeysModule } from '../src/signing-keys/signing-keys.module.ts';
import { allow, DEVICE_GRANT, poll, requestDevice } from './device-fixture.ts';
import { type Account, claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  browser,
  fetchOf,
  oauthCalls,
  oauthOfFile,
  REDIRECT,
  type TestClient,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const { refresh, introspect } = oauthCalls(() => fixture);
const APPLICATIONS = '/api/v1/admin/applications';
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
const MORE = { nonce: 'the-nonce' };
/** Claims that differ between two tokens of one session. */
const OF_ONE_TOKEN = ['iat', 'exp', 'jti', 'at_hash', 'nonce'];

const verified = async (client: TestClient, idToken: string, alg: string) => {
  const discovery = await fixture.rest.get('/.well-known/openid-configuration');
  expect(discovery.body.jwks_uri).toBe(`${fixture.issuer}/oauth2/jwks`);
  const keys = createRemoteJWKSet(new URL(discovery.body.jwks_uri), {
    [customFetch]: fetchOf(fixture) as typeof fetch,
  });
  const { issuer } = fixture;
  const expected = { issuer, audience: client.client_id, algorithms: [alg] };
  return (await jwtVerify(idToken, keys, expected)).payload;
};
const lasting = (claims: object) =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !OF_ONE_TOKEN.includes(name)));

const signedByOurKeys = async (alg: (typeof ALGORITHMS)[number], typ: string, claims: object) => {
  const { signingKeys } = signingKeysModule(fixture.host.needsOf('identity'));
  await signingKeys.start();
  const text = signingKeys.signForClient(alg, typ, claims);
  await signingKeys.stop();
  return text;
};

describe('userinfo', () => {
  it.each(ALGORITHMS)(
    'is signed by %s for an application that asks for it, and JSON again after [oauth 27]',
    async (alg) => {
      const client = await application(fixture, admin, { userinfo_signed_response_alg: alg });
      const { access_token: bearer } = await authorized(fixture, { client, account: admin });
      const ask = () =>
        fetch(`${fixture.baseUrl}/oauth2/userinfo`, {
          headers: { authorization: `Bearer ${bearer}` },
        });
      const signed = await ask();
      const text = await signed.text();
      expect(signed.headers.get('content-type')).toBe('application/jwt');
      expect(signed.headers.get('cache-control')).toBe('no-store');
      const { iss: _iss, aud: _aud, ...claims } = await verified(client, text, alg);
      expect((await fixture.rest.get('/api/v1/auth/me', { bearer: text })).status).toBe(401);
      const change = { userinfo_signed_response_alg: null };
      const path = `${APPLICATIONS}/${client.id}`;
      expect((await fixture.as(admin).patch(path, change)).body).toMatchObject(change);
      expect(await (await ask()).json()).toEqual(claims);
    },
  );

  it('and the id_token have each claim that discovery names [oauth 28]', async () => {
    const client = await application(fixture, admin);
    const ann = await fixture.register(admin.tenantId);
    const profile = {
      ...{ display_name: 'Ann', avatar_url: 'https://pictures.example/ann.png' },
      ...{ locale: 'de-CH', preferred_username: 'ann' },
    };
    expect((await fixture.as(ann).patch('/api/v1/user/profile', profile)).status).toBe(200);
    const done = await authorized(fixture, { client, account: ann });
    const info = await fixture.rest.get('/oauth2/userinfo', { bearer: done.access_token });
    const seen = Object.keys({ ...decodeJwt(done.id_token), ...info.body });
    const { body } = await fixture.rest.get('/.well-known/openid-configuration');
    expect(new Set(body.id_token_signing_alg_values_supported)).toEqual(new Set(ALGORITHMS));
    expect(body.userinfo_signing_alg_values_supported).toEqual([...ALGORITHMS]);
    expect(seen).toEqual(expect.arrayContaining(body.claims_supported));
  });
});

describe('an id_token_hint', () => {
  it.each(ALGORITHMS)(
    'by %s is taken when it has expired, and refused when its claims were changed [oauth 29]',
    async (alg) => {
      const client = await application(fixture, admin, { id_token_signed_response_alg: alg });
      const { page, id_token } = await authorized(fixture, { client, account: admin });
      const silent = async (hint: string) =>
        (
          await page.get(
            oauthCalls(() => fixture).authorize(client, { prompt: 'none', id_token_hint: hint }),
          )
        ).location;
      expect(await silent(id_token)).toContain('code=');
      const { iat = 0, exp = 0, ...claims } = decodeJwt(id_token);
      const past = { ...claims, iat: iat - 90_000, exp: exp - 90_000 };
      expect(await silent(await signedByOurKeys(alg, 'JWT', past))).toContain('code=');
      const [header, , signature] = id_token.split('.');
      const payload = Buffer.from(JSON.stringify({ ...claims, iat, exp: exp + 1 })).toString(
        'base64url',
      );
      expect(await silent(`${header}.${payload}.${signature}`)).toContain('error=invalid_request');
    },
  );
});

describe('a hint', () => {
  it('of another person or another tenant signs nobody in unseen [oauth 29]', async () => {
    const [bob, elsewhere] = [await fixture.register(admin.tenantId), await fixture.signUp()];
    const ours = await application(fixture, admin, { first_party: true });
    const theirs = await application(fixture, elsewhere, { first_party: true });
    const { page, id_token: own } = await authorized(fixture, { client: ours, account: admin });
    const hintOf = async (client: TestClient, account: Account) =>
      (await authorized(fixture, { client, account })).id_token;
    const asked = (client: TestClient, id_token_hint: string, more: object = {}) =>
      page.get(oauthCalls(() => fixture).authorize(client, { id_token_hint, ...more }));
    const silent = { prompt: 'none' };
    const errorOf = async (hint: string, more: object) =>
      new URL((await asked(ours, hint, more)).location).searchParams.get('error');
    const ofBob = await hintOf(ours, bob);
    expect(await errorOf(ofBob, silent)).toBe('login_required');
    expect((await asked(ours, ofBob)).location).toContain('/oauth2/interaction/');
    // Every application of another tenant counts as another application.
    const foreign = await hintOf(theirs, elsewhere);
    for (const more of [silent, {}]) expect(await errorOf(foreign, more)).toBe('invalid_request');
    expect((await asked(ours, own, { prompt: 'none' })).location).toContain('code=');
  });
});

describe('an id_token', () => {
  it.each(ALGORITHMS)(
    'by %s says the same by code and by refresh, and equals userinfo [oauth 28]',
    async (alg) => {
      const client = await application(fixture, admin, { id_token_signed_response_alg: alg });
      const first = await authorized(fixture, { client, account: admin, more: MORE });
      const byCode = await verified(client, first.id_token, alg);
      const { keys } = (await fixture.rest.get('/oauth2/jwks')).body;
      expect(keys.map(({ kid }: { kid: string }) => kid)).toContain(
        decodeProtectedHeader(first.id_token).kid,
      );
      expect(byCode).toMatchObject({
        nonce: 'the-nonce',
        sid: claimsOf(first.access_token)['sid'],
        at_hash: expect.any(String),
        email: admin.email,
      });
      const again = await refresh(client, first.refresh_token);
      const byRefresh = await verified(client, again.body.id_token, alg);
      expect(lasting(byRefresh)).toEqual(lasting(byCode));
      expect(byRefresh['nonce']).toBeUndefined();
      expect(byRefresh['at_hash']).not.toBe(byCode['at_hash']);
      const info = await fixture.rest.get('/oauth2/userinfo', { bearer: first.access_token });
      expect(byCode).toMatchObject(info.body);
      for (const value of Object.values({ ...info.body, ...byCode })) expect(value).not.toBeNull();
    },
  );

  it('says the same by device code as by code and by refresh [oauth 28]', async () => {
    const client = await application(fixture, admin, {
      ...{ type: 'native', redirect_uris: [REDIRECT] },
      grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    });
    const scope = 'openid profile email';
    const byCode = await authorized(fixture, { client, account: admin, more: { scope } });
    const request = await requestDevice(fixture, client, scope);
    await allow(browser(fixture), { ...request, account: admin });
    const { body } = await poll(fixture, client, request);
    const [ofCode, ofDevice, again] = await Promise.all(
      [
        byCode.id_token,
        body.id_token,
        (await refresh(client, body.refresh_token)).body.id_token,
      ].map(async (idToken) => lasting(await verified(client, idToken, 'RS256'))),
    );
    expect(again).toEqual(ofDevice);
    // Another sign-in has another session.
    const { sid, auth_time: at } = ofDevice ?? {};
    expect(ofDevice).toEqual({ ...ofCode, sid, auth_time: at });
    const info = await fixture.rest.get('/oauth2/userinfo', { bearer: body.access_token });
    expect(ofDevice).toMatchObject(info.body);
  });

  it('has the hash that its algorithm names', async () => {
    for (const [alg, characters] of [
      ['RS256', 22],
      ['ES256', 22],
      ['EdDSA', 43],
    ] as const) {
      const client = await application(fixture, admin, { id_token_signed_response_alg: alg });
      const { id_token } = await authorized(fixture, { client, account: admin });
      expect([alg, String(decodeJwt(id_token)['at_hash']).length]).toEqual([alg, characters]);
    }
  });

  it('is signed by RS256 unless the application says otherwise, and by another once it does', async () => {
    const client = await application(fixture, admin);
    const first = await authorized(fixture, { client, account: admin });
    await verified(client, first.id_token, 'RS256');
    const path = `${APPLICATIONS}/${client.id}`;
    const change = { id_token_signed_response_alg: 'ES256' };
    expect((await fixture.as(admin).patch(path, change)).body).toMatchObject(change);
    expect((await fixture.as(admin).get(path)).body).toMatchObject(change);
    const again = await refresh(client, first.refresh_token);
    await verified(client, again.body.id_token, 'ES256');
    for (const wrong of ['HS256', 'none', 'RS512', '', null]) {
      const body = { id_token_signed_response_alg: wrong };
      expect((await fixture.as(admin).patch(path, body)).status).toBe(400);
    }
  });

  it.each(ALGORITHMS)(
    'by %s is nobody, nor is an access token that our key of it has signed [oauth 27]',
    async (alg) => {
      const client = await application(fixture, admin, {
        id_token_signed_response_alg: alg,
        ...{ first_party: true, scopes: ['openid', 'email', 'roles', 'account'] },
      });
      const more = { scope: 'openid email roles account' };
      const done = await authorized(fixture, { client, account: admin, more });
      const forged = await signedByOurKeys(alg, 'at+jwt', claimsOf(done.access_token));
      const bearers = alg === 'EdDSA' ? [done.id_token] : [done.id_token, forged];
      for (const bearer of bearers) {
        const { tenantId: tenant } = admin;
        expect((await fixture.rest.get('/api/v1/auth/me', { bearer, tenant })).status).toBe(401);
        expect((await fixture.rest.get('/oauth2/userinfo', { bearer })).status).toBe(401);
        expect(await introspect(bearer)).toEqual({ active: false });
      }
    },
  );

  it('finds the keys of access tokens alone at the well-known address [oauth 27]', async () => {
    const { keys } = (await fixture.rest.get('/.well-known/jwks.json')).body;
    expect(new Set(keys.map(({ alg }: { alg: string }) => alg))).toEqual(new Set(['EdDSA']));
    const all = (await fixture.rest.get('/oauth2/jwks')).body.keys;
    expect(all.map(({ kty, alg }: { kty: string; alg?: string }) => [kty, alg])).toEqual([
      ['OKP', undefined],
      ['RSA', 'RS256'],
      ['EC', 'ES256'],
    ]);
    for (const key of all) for (const part of ['d', 'p', 'q']) expect(key).not.toHaveProperty(part);
  });
});

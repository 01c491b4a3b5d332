/** Tokens that are bound to a client's key, from two replicas with one cache (RFC 9449). */
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { calling, codeFor, proofBy, proofKey } from './dpop-fixture.ts';
import { claimsOf, PASSWORD } from './identity-fixture.ts';
import {
  application,
  authorizeUrl,
  browser,
  clientOf,
  fetchOf,
  type OAuthFixture,
  oauthCalls,
  pkce,
  REDIRECT,
  signIn,
  type TestClient,
  token,
} from './oauth-fixture.ts';
import { oauthReplicasOfFile } from './oauth-replicas-fixture.ts';

const of = oauthReplicasOfFile();
let spa: TestClient;
beforeAll(async () => {
  spa = await application(of.one, of.admin);
});

const { introspect } = oauthCalls(() => of.one);

describe('a token that is bound to a key of its client', () => {
  it('serves openid-client from the code to the API, and refreshes for that key alone [oauth 39]', async () => {
    const native = await application(of.one, of.admin, { type: 'native' });
    const config = await clientOf(of.one, native.client_id, openid.None());
    const key = await openid.randomDPoPKeyPair('ES256');
    const DPoP = openid.getDPoPHandle(config, key);
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const url = openid.buildAuthorizationUrl(config, {
      ...{ redirect_uri: REDIRECT, scope: 'openid profile email' },
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      ...{ code_challenge_method: 'S256', dpop_jkt: await DPoP.calculateThumbprint() },
    });
    const back = await signIn(browser(of.one), url.pathname + url.search, { account: of.bob });
    const checks = { pkceCodeVerifier };
    const tokens = await openid.authorizationCodeGrant(config, back, checks, undefined, { DPoP });
    expect(tokens.token_type).toBe('dpop');
    const { cnf } = claimsOf(tokens.access_token);
    expect(cnf).toEqual({ jkt: await DPoP.calculateThumbprint() });
    const shown = { active: true, token_type: 'DPoP', cnf };
    expect(await introspect(tokens.access_token)).toMatchObject(shown);

    const info = await openid.fetchUserInfo(config, tokens.access_token, of.bob.userId, { DPoP });
    expect(info.email).toBe(of.bob.email);
    const bearer = openid.fetchUserInfo(config, tokens.access_token, of.bob.userId);
    await expect(bearer).rejects.toMatchObject({ status: 401 });

    const rt = tokens.refresh_token ?? '';
    const foreign = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('EdDSA'));
    const refused = { error: 'invalid_grant' };
    const stolen = openid.refreshTokenGrant(config, rt, {}, { DPoP: foreign });
    await expect(stolen).rejects.toMatchObject(refused);
    await expect(openid.refreshTokenGrant(config, rt)).rejects.toMatchObject(refused);
    const next = await openid.refreshTokenGrant(config, rt, {}, { DPoP });
    expect(next.token_type).toBe('dpop');
    expect(claimsOf(next.access_token).cnf).toEqual(cnf);
    await openid.refreshTokenGrant(config, next.refresh_token ?? '', {}, { DPoP });
  });

  it('is issued to a machine with oauth4webapi, by each algorithm of discovery [oauth 39]', async () => {
    const machine = await application(of.one, of.admin, {
      type: 'm2m',
      redirect_uris: [],
      scopes: [],
    });
    const issuer = new URL(of.one.issuer);
    const found = await oauth.discoveryRequest(issuer, {
      [oauth.allowInsecureRequests]: true,
      [oauth.customFetch]: fetchOf(of.one) as never,
    });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const algorithms = server.dpop_signing_alg_values_supported ?? [];
    expect(algorithms).toEqual(['ES256', 'EdDSA', 'Ed25519', 'RS256', 'PS256']);
    const client: oauth.Client = { client_id: machine.client_id };
    for (const alg of algorithms.filter((name) => name !== 'EdDSA')) {
      const DPoP = oauth.DPoP(client, await oauth.generateKeyPair(alg));
      const authentication = oauth.ClientSecretBasic(machine.client_secret ?? '');
      const answer = await oauth.clientCredentialsGrantRequest(
        ...[server, client, authentication, new URLSearchParams()],
        {
          DPoP,
          [oauth.allowInsecureRequests]: true,
          [oauth.customFetch]: fetchOf(of.one) as never,
        },
      );
      const done = await oauth.processClientCredentialsResponse(server, client, answer);
      const jkt = await DPoP.calculateThumbprint();
      expect([alg, done.token_type, claimsOf(done.access_token).cnf]).toEqual([
        ...[alg, 'dpop'],
        { jkt },
      ]);
    }
  });

  it('is refused as Bearer by API and userinfo, and lends nobody to an agent [oauth 39]', async () => {
    const key = await proofKey();
    const ours = await application(of.one, of.admin, {
      ...{ first_party: true, scopes: ['openid', 'account'] },
    });
    const form = await codeFor(
      of.one,
      { client: ours, account: of.bob },
      { scope: 'openid account' },
    );
    const { access_token: access } = (
      await token(of.one, form, { dpop: await proofBy(key, of.one) })
    ).body;
    for (const path of ['/api/v1/user/profile', '/oauth2/userinfo']) {
      expect([path, (await calling(of.one, { path }, access, key)).status]).toEqual([path, 200]);
      const bearer = await calling(of.one, { path }, access);
      expect([path, bearer.status]).toEqual([path, 401]);
      const challenge = bearer.headers.get('www-authenticate') ?? '';
      expect(challenge).toContain('DPoP error="invalid_token"');
      const foreign = await calling(of.one, { path }, access, await proofKey());
      expect([path, foreign.status]).toEqual([path, 401]);
      expect(foreign.headers.get('www-authenticate')).toContain('error="invalid_dpop_proof"');
    }
    const as = of.one.as(of.admin);
    const agent = (await as.post('/api/v1/agents', { name: 'bot' })).body.id;
    const agentKey = (await as.post(`/api/v1/agents/${agent}/keys`, { name: 'ci' })).body.key;
    const lent = await of.one.rest.post(
      '/api/v1/agent/sessions',
      { subject_token: access },
      { bearer: agentKey, tenant: of.admin.tenantId },
    );
    expect(lent.code).toBe('invalid_subject_token');
  });

  it('stays bound when its user shows a factor once more [oauth 39]', async () => {
    const key = await proofKey();
    const ours = await application(of.one, of.admin, {
      ...{ first_party: true, scopes: ['openid', 'account'] },
    });
    const form = await codeFor(
      of.one,
      { client: ours, account: of.bob },
      { scope: 'openid account' },
    );
    const { access_token } = (await token(of.one, form, { dpop: await proofBy(key, of.one) })).body;
    const body = { method: 'password', password: PASSWORD };
    const path = '/api/v1/auth/step-up';
    const stepped = await calling(of.one, { path, body }, access_token, key);
    expect(stepped.status).toBe(200);
    expect(claimsOf(stepped.body.access_token).cnf).toEqual({ jkt: key.thumbprint });
  });

  it.each<[string, object]>([
    ['another method', { htm: 'GET' }],
    ['another path', { htu: 'http://127.0.0.1:65530/oauth2/par' }],
    ['another host', { htu: 'https://evil.example/oauth2/token' }],
    ['a moment 61 s ago', { iat: Math.floor(Date.now() / 1000) - 61 }],
    ['no id', { jti: '' }],
    ['more than 4 KiB', { more: 'x'.repeat(4096) }],
  ])(
    'is not issued for a proof of %s, and the code is still good [oauth 39]',
    async (_what, wrong) => {
      const key = await proofKey();
      const form = await codeFor(of.one, { client: spa, account: of.bob });
      const refused = await token(of.one, form, { dpop: await proofBy(key, of.one, wrong) });
      expect([refused.status, refused.body.error]).toEqual([400, 'invalid_dpop_proof']);
      const proof = { dpop: await proofBy(key, of.one) };
      expect((await token(of.one, form, proof)).body.token_type).toBe('DPoP');
    },
  );

  it('is issued once for a proof, whichever replica it was shown to [oauth 39]', async () => {
    const key = await proofKey();
    const [first, second] = [
      await codeFor(of.one, { client: spa, account: of.bob }),
      await codeFor(of.one, { client: spa, account: of.bob }),
    ];
    const headers = { dpop: await proofBy(key, of.one) };
    const tokens = await token(of.one, first, headers);
    expect(tokens.status).toBe(200);
    const again = await token(of.other, second, headers);
    expect([again.status, again.body.error]).toEqual([400, 'invalid_dpop_proof']);
    const { refresh_token } = tokens.body;
    const form = { grant_type: 'refresh_token', client_id: spa.client_id, refresh_token };
    const repeated = await token(of.other, form, headers);
    expect([repeated.status, repeated.body.error]).toEqual([400, 'invalid_dpop_proof']);
    // The refresh token was not consumed by it.
    expect((await token(of.other, form, { dpop: await proofBy(key, of.one) })).status).toBe(200);
  });

  it('needs the key that the request for the code named, pushed or not [oauth 39]', async () => {
    const [key, foreign] = [await proofKey(), await proofKey('Ed25519')];
    const named = await codeFor(
      of.one,
      { client: spa, account: of.bob },
      { dpop_jkt: key.thumbprint },
    );
    for (const proof of [undefined, foreign]) {
      const form = await codeFor(
        of.one,
        { client: spa, account: of.bob },
        { dpop_jkt: key.thumbprint },
      );
      const headers = proof === undefined ? {} : { dpop: await proofBy(proof, of.one) };
      expect((await token(of.one, form, headers)).body.error).toBe('invalid_grant');
    }
    expect((await token(of.one, named, { dpop: await proofBy(key, of.one) })).status).toBe(200);

    const { verifier, challenge } = pkce();
    const query = authorizeUrl(spa, { code_challenge: challenge }).split('?')[1] ?? '';
    const claims = { htu: `${of.one.issuer}/oauth2/par` };
    const dpop = await proofBy(key, of.one, claims);
    const push = (at: OAuthFixture) =>
      fetch(`${at.baseUrl}/oauth2/par`, {
        ...{ method: 'POST', body: new URLSearchParams(query), headers: { dpop } },
      });
    const pushed = await push(of.one);
    expect(pushed.status).toBe(201);
    expect((await (await push(of.other)).json()) as object).toMatchObject({
      error: 'invalid_dpop_proof',
    });
    const { request_uri } = (await pushed.json()) as { request_uri: string };
    const { client_id } = spa;
    const url = `/oauth2/authorize?${new URLSearchParams({ client_id, request_uri })}`;
    const back = await signIn(browser(of.one), url, { account: of.bob });
    const form = {
      ...{ grant_type: 'authorization_code', client_id, redirect_uri: REDIRECT },
      ...{ code: back.searchParams.get('code'), code_verifier: verifier },
    };
    const answer = await token(of.one, form, { dpop: await proofBy(foreign, of.one) });
    expect(answer.body.error).toBe('invalid_grant');
  });
});

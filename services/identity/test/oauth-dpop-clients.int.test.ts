/** Which applications need a proof of possession, and what works without the cache (RFC 9449). */
import { beforeAll, describe, expect, it } from 'vitest';
import { calling, codeFor, type ProofKey, proofBy, proofKey, refreshedBy } from './dpop-fixture.ts';
import { claimsOf } from './identity-fixture.ts';
import { application, type TestClient, token } from './oauth-fixture.ts';
import { oauthReplicasOfFile } from './oauth-replicas-fixture.ts';

const of = oauthReplicasOfFile();
let spa: TestClient;
beforeAll(async () => {
  spa = await application(of.one, of.admin);
});

/** Tokens obtained by a code and bound to the key. */
const boundTo = async (key: ProofKey, client: TestClient = spa) => {
  const form = await codeFor(of.one, { client, account: of.bob });
  const answer = await token(of.one, form, { dpop: await proofBy(key, of.one) });
  expect(answer).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
  return answer.body;
};

describe('an application', () => {
  it('with dpop_bound_access_tokens gets no token without a proof, by any grant [oauth 39]', async () => {
    const bound = { dpop_bound_access_tokens: true };
    const web = await application(of.one, of.admin, { type: 'web', ...bound });
    const listed = (await of.one.as(of.admin).get('/api/v1/admin/applications?limit=100')).body;
    const shown = listed.applications.find(({ id }: TestClient) => id === web.id);
    expect(shown).toMatchObject(bound);
    const { client_id, client_secret } = web;
    expect(
      (await token(of.one, await codeFor(of.one, { client: web, account: of.bob }))).body.error,
    ).toBe('invalid_grant');
    const key = await proofKey();
    const tokens = await boundTo(key, web);
    expect((await refreshedBy(of.one, web, tokens, undefined)).body.error).toBe('invalid_grant');
    // A confidential client authenticates, so its refresh tokens can be used with any of its keys.
    const next = await refreshedBy(of.one, web, tokens, await proofKey());
    expect(next.body.token_type).toBe('DPoP');

    const change = { dpop_bound_access_tokens: false };
    const path = `/api/v1/admin/applications/${web.id}`;
    expect((await of.one.as(of.admin).patch(path, change)).body).toMatchObject(change);
    const form = { grant_type: 'refresh_token', client_id, client_secret };
    const bearer = await token(of.one, { ...form, refresh_token: next.body.refresh_token });
    expect(bearer.body.token_type).toBe('Bearer');
    expect(claimsOf(bearer.body.access_token)).not.toHaveProperty('cnf');
  });

  it('that is public has its session bound from the first proof on [oauth 39]', async () => {
    const tokens = (await token(of.one, await codeFor(of.one, { client: spa, account: of.bob })))
      .body;
    expect(tokens.token_type).toBe('Bearer');
    const key = await proofKey();
    const bound = await refreshedBy(of.one, spa, tokens, key);
    expect(bound.body.token_type).toBe('DPoP');
    expect((await refreshedBy(of.one, spa, bound.body, undefined)).body.error).toBe(
      'invalid_grant',
    );
    expect((await refreshedBy(of.one, spa, bound.body, key)).status).toBe(200);
  });
});

describe('with the cache away', () => {
  it('a request with a proof is 503, and refreshing without one goes on [oauth 39]', async () => {
    const machine = await application(of.one, of.admin, {
      type: 'm2m',
      redirect_uris: [],
      scopes: [],
    });
    const { client_id, client_secret } = machine;
    const form = { grant_type: 'client_credentials', client_id, client_secret };
    const plain = (await token(of.one, await codeFor(of.one, { client: spa, account: of.bob })))
      .body;
    const key = await proofKey();
    const bound = await boundTo(key);
    await of.redis.kill();
    expect((await token(of.one, form, { dpop: await proofBy(key, of.one) })).status).toBe(503);
    expect((await refreshedBy(of.one, spa, bound, key)).status).toBe(503);
    expect(
      (await calling(of.one, { path: '/oauth2/userinfo' }, bound.access_token, key)).status,
    ).toBe(503);
    expect((await token(of.one, form)).body.token_type).toBe('Bearer');
    expect((await refreshedBy(of.one, spa, plain, undefined)).body.token_type).toBe('Bearer');
  });
});

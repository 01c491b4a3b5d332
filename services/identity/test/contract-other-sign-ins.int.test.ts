/** The rows of the contract's table 4.2 for signing in without a password and for introspecting tokens. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  AUTH,
  body,
  contractFixture,
  keys,
  playRows,
  type Rows,
  refusal,
  TOKENS,
} from './contract-fixture.ts';
import { claimsOf } from './identity-fixture.ts';
import { mfaTokenOf, nextCode, withTotp } from './mfa-fixture.ts';
import { application, authorized } from './oauth-fixture.ts';
import { knownAt, newPerson, PAGE } from './social-fixture.ts';
import { softwareAuthenticator } from './software-authenticator.ts';
import { exchangingAgent, postTokenExchange, tokenExchangeForm } from './token-exchange-fixture.ts';

const MINUTE_MS = 60_000;
const EXCHANGED = [
  ...['access_token', 'agent_session_id', 'capability_token', 'expires_in'],
  ...['issued_token_type', 'scope', 'token_type'],
];
const WITHOUT_SESSION = ['access_token', 'expires_in', 'user_id'];

const world = contractFixture();
const { codeFor, consented, inTenant, later, linkIn, newcomer } = world;

const WITHOUT_PASSWORD: Rows = {
  'POST /auth/magic-link': async () => {
    const { email } = await newcomer();
    const sent = body(await inTenant().post(`${AUTH}/magic-link`, { email }));
    expect(keys(sent)).toEqual(['challenge_id', 'message', 'status']);
    expect(sent.status).toBe('sent');
    expect(JSON.stringify(sent)).not.toContain(await linkIn(email, /Sign in/));
  },
  'POST /auth/magic-link/verify': async () => {
    const { email } = await newcomer();
    const verify = (token: string) =>
      world.fixture.rest.post(`${AUTH}/magic-link/verify`, { token });
    const mailed = async () => {
      await world.fixture.rest.delete('/dev/mailbox');
      await inTenant().post(`${AUTH}/magic-link`, { email });
      return linkIn(email, /Sign in/);
    };
    const entered = body(await verify(await mailed()));
    expect(keys(entered)).toEqual(WITHOUT_SESSION);
    expect(claimsOf(entered.access_token).sid).toBeUndefined();
    expect(refusal(await verify('nothing'))).toBe('401 invalid_link');
    const old = await mailed();
    await later(16 * MINUTE_MS, async () => {
      expect(refusal(await verify(old))).toBe('410 link_expired');
    });
  },
  'POST /auth/otp/send': async () => {
    const { sent, code } = await codeFor((await newcomer()).email);
    expect(keys(sent)).toEqual(['challenge_id', 'message', 'status']);
    expect(JSON.stringify(sent)).not.toContain(code);
  },
  'POST /auth/otp/verify': async () => {
    const verify = (fields: object) => inTenant().post(`${AUTH}/otp/verify`, fields);
    const { code } = await codeFor((await newcomer()).email);
    const entered = body(await verify({ code }));
    expect(keys(entered)).toEqual(WITHOUT_SESSION);
    expect(refusal(await verify({ code: 'K7QF3MXP' }))).toBe('401 invalid_code');
    const { email } = await newcomer();
    const old = await codeFor(email);
    await later(11 * MINUTE_MS, async () => {
      expect(refusal(await verify({ code: old.code, email }))).toBe('410 code_expired');
    });
    for (let guess = 0; guess < 5; guess += 1) await verify({ code: 'K7QF3MXP', email });
    expect(refusal(await verify({ code: old.code, email }))).toBe('429 too_many_attempts');
  },
  'POST /auth/mfa/challenge': async () => {
    const bob = await withTotp(world.fixture, await newcomer());
    const mfa_token = await mfaTokenOf(world.fixture, bob);
    const challenge = (token: string) =>
      world.fixture.rest.post(`${AUTH}/mfa/challenge`, { mfa_token: token, method: 'totp' });
    expect(keys(body(await challenge(mfa_token)))).toContain('challenge_id');
    expect(refusal(await challenge('nothing'))).toBe('401 invalid_mfa_token');
  },
  'POST /auth/mfa/verify': async () => {
    const bob = await withTotp(world.fixture, await newcomer());
    const mfa_token = await mfaTokenOf(world.fixture, bob);
    const verify = (code: string) =>
      world.fixture.rest.post(`${AUTH}/mfa/verify`, { mfa_token, method: 'totp', code });
    expect(refusal(await verify('000000'))).toBe('401 invalid_code');
    const entered = body(await verify(nextCode(world.fixture, bob.secret)));
    expect(keys(entered)).toEqual([...TOKENS, 'email_verified', 'mfa_required'].toSorted());
    expect(claimsOf(entered.access_token).amr).toEqual(['pwd', 'otp', 'mfa']);
  },
  'POST /auth/passkeys/options': async () => {
    const asked = body(await inTenant().post(`${AUTH}/passkeys/options`, {}));
    expect(keys(asked)).toEqual(['challenge_id', 'options']);
  },
  'POST /auth/passkeys/verify': async () => {
    const me = world.fixture.as(await newcomer());
    const authenticator = softwareAuthenticator();
    const begun = body(await me.post('/api/v1/me/passkeys/options'));
    const response = authenticator.create(begun.options, {});
    const { challenge_id } = begun;
    body(await me.post('/api/v1/me/passkeys', { challenge_id, response }), 201);
    const asked = body(await inTenant().post(`${AUTH}/passkeys/options`, {}));
    const shown = {
      challenge_id: asked.challenge_id,
      response: authenticator.get(asked.options, {}),
    };
    const verify = () => inTenant().post(`${AUTH}/passkeys/verify`, shown);
    expect(keys(body(await verify()))).toEqual(
      [...TOKENS, 'email_verified', 'mfa_required'].toSorted(),
    );
    expect(refusal(await verify())).toBe('410 challenge_expired');
  },
};

const ELSEWHERE: Rows = {
  'GET /auth/social/{provider}/authorize': async () => {
    const { tenantId: tenant_id } = world.admin;
    for (const provider of ['google', 'github', 'microsoft'] as const) {
      const answer = await world.social.authorize(provider, { tenant_id });
      expect(answer.status).toBe(302);
      const at = provider === 'github' ? world.social.github.url : world.social.issuer.url;
      expect(answer.headers.get('location')).toContain(at);
    }
    const foreign = { tenant_id, redirect_uri: 'https://elsewhere.example/' };
    expect((await world.social.authorize('google', foreign)).status).toBe(400);
    expect((await world.social.authorize('google', {})).status).toBe(400);
    knownAt(world.social, 'google', newPerson());
    const { headers } = await world.social.signIn('google', tenant_id, PAGE);
    expect(headers.get('location')).toMatch(/#token=[\w.-]+$/);
  },
  'GET /auth/social/{provider}/callback': async () => {
    for (const provider of ['google', 'github', 'microsoft'] as const) {
      knownAt(world.social, provider, newPerson());
      const { status, body: entered } = await world.social.signIn(provider, world.admin.tenantId);
      expect([status, entered.is_new_user]).toEqual([200, true]);
      expect(keys(entered)).toEqual([...TOKENS, 'is_new_user'].toSorted());
    }
  },
  'POST /auth/social/exchange': async () => {
    knownAt(world.social, 'google', newPerson());
    const { tenantId } = world.admin;
    const asking = { exchange: 'true' };
    const { fragment } = await world.social.signIn('google', tenantId, PAGE, asking);
    const exchange = () =>
      world.fixture.rest.post(`${AUTH}/social/exchange`, { code: fragment['code'] });
    expect(keys(body(await exchange()))).toEqual([...TOKENS, 'is_new_user'].toSorted());
    expect(refusal(await exchange())).toBe('401 invalid_code');
  },
  'GET /.well-known/jwks.json': async () => {
    const { keys: published } = body(await world.fixture.rest.get('/.well-known/jwks.json'));
    expect(published[0]).toMatchObject({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' });
    for (const key of published) expect(key).not.toHaveProperty('d');
  },
  'GET /oauth2/jwks': async () => {
    const { keys: published } = body(await world.fixture.rest.get('/oauth2/jwks'));
    const types = published.map(({ kty }: { kty: string }) => kty);
    expect(new Set(types)).toEqual(new Set(['OKP', 'RSA', 'EC']));
    for (const key of published) expect(key).not.toHaveProperty('d');
  },
  'POST /oauth2/token': async () => {
    const { access } = await newcomer();
    const agent = await exchangingAgent(world.fixture, world.admin);
    const exchange = (token: string) =>
      postTokenExchange(world.fixture, agent, tokenExchangeForm(token));
    const { status, body: tokens } = await exchange(access);
    expect([status, keys(tokens)]).toEqual([200, EXCHANGED]);
    const foreign = await exchange(tokens.access_token);
    expect([foreign.status, foreign.body.error]).toEqual([400, 'invalid_grant']);
  },
  'POST /oauth2/introspect': async () => {
    const { access: token, tenantId: tid, userId: sub, email } = await newcomer();
    const form = { method: 'POST', body: new URLSearchParams({ token }) };
    const answer = await fetch(`${world.fixture.baseUrl}/oauth2/introspect`, form);
    expect(await answer.json()).toMatchObject({
      ...{ active: true, sub, tid, tenant_id: tid, email, roles: ['member'] },
    });
  },
  'GET /oauth2/userinfo': async () => {
    const { account, app } = await consented();
    const userinfo = (token: string) =>
      fetch(`${world.fixture.baseUrl}/oauth2/userinfo`, {
        headers: { authorization: `Bearer ${token}` },
      });
    const info = await userinfo(app.access_token);
    expect(await info.json()).toMatchObject({ sub: account.userId, email: account.email });
    expect((await userinfo(account.access)).status).toBe(401);
  },
  'GET /oauth2/session/end': async () => {
    const { fixture, admin } = world;
    const post_logout_redirect_uri = 'http://127.0.0.1:9/bye';
    const client = await application(fixture, admin, {
      post_logout_redirect_uris: [post_logout_redirect_uri],
    });
    const { page, id_token } = await authorized(fixture, { client, account: await newcomer() });
    const end = (asked: { readonly [name: string]: string }) =>
      page.get(`/oauth2/session/end?${new URLSearchParams(asked)}`);
    const elsewhere = { post_logout_redirect_uri: 'https://elsewhere.example/' };
    expect((await end({ id_token_hint: id_token, ...elsewhere })).status).toBe(400);
    const asked = { id_token_hint: id_token, post_logout_redirect_uri, state: 'kept' };
    const { status, location } = await end(asked);
    expect([status, location]).toEqual([303, `${post_logout_redirect_uri}?state=kept`]);
  },
};

playRows('4.2', { ...WITHOUT_PASSWORD, ...ELSEWHERE });

const textOf = (path: string) => readFileSync(resolve(import.meta.dirname, path), 'utf8');
const CALL = /(?:GET|POST|PATCH|PUT|DELETE) [^ ']+/;
const PLAYED = ['own-account', 'accounts', 'other-sign-ins']
  .map((name) => textOf(`contract-${name}.int.test.ts`))
  .flatMap((text) => [...text.matchAll(new RegExp(`^ {2}'(${CALL.source})': async`, 'gm'))])
  .map(([, call]) => call);

describe('identity 1 tables 4.1 and 4.2 of the contract', () => {
  it('have no row but those that are played', () => {
    const [, after = ''] = textOf('../../../docs/contract.md').split('### 4.1 ');
    const [tables = ''] = after.split('#### 4.2.1 ');
    const rows = [...tables.matchAll(new RegExp(`^\\| (${CALL.source}) `, 'gm'))];
    expect(rows.length).toBeGreaterThan(30);
    expect(PLAYED.toSorted()).toEqual(rows.map(([, call]) => call).toSorted());
  });
});

/** How a browser sign-in ends in its own browser, and which sessions end with it. */
import { untilTrue } from '@cardea/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  authorizeUrl,
  type Browser,
  browser,
  oauthCalls,
  oauthOfFile,
  pkce,
  REDIRECT,
  signIn,
  type TestClient,
  token,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
/** An application without refresh tokens: its tokens name the browser session. */
let shop: TestClient;
let ann: Account;
beforeAll(async () => {
  ann = await fixture.register(admin.tenantId);
  const fields = { first_party: true, grant_types: ['authorization_code'] };
  shop = await application(fixture, admin, fields);
});

const { introspect, refresh } = oauthCalls(() => fixture);

const lastOf = async (sid: string) => {
  const events = await fixture.eventsSince(0n);
  return events.findLast(({ streamId }) => streamId === `session-${sid}`);
};
const sidOf = (token: string): string => String(claimsOf(token).sid);

describe('the sign-in of a browser', () => {
  it('oauth 31 ends with the reason `replaced` where another account signs in', async () => {
    const bob = await fixture.register(admin.tenantId);
    const page = browser(fixture);
    const before = await authorized(fixture, { client: shop, account: ann, page });
    const more = { prompt: 'login' };
    const after = await authorized(fixture, { client: shop, account: bob, page, more });
    const last = await lastOf(sidOf(before.access_token));
    expect(last).toMatchObject({
      type: 'SessionRevoked',
      data: { kind: 'browser', user_id: ann.userId, reason: 'replaced' },
    });
    expect((await introspect(before.access_token)).active).toBe(false);
    expect((await introspect(after.access_token)).active).toBe(true);
  });

  it('oauth 31 ends where an account of another tenant signs in', async () => {
    const foreign = await fixture.signUp();
    const theirs = await application(fixture, foreign, { first_party: true });
    const page = browser(fixture);
    const before = await authorized(fixture, { client: shop, account: ann, page });
    await authorized(fixture, { client: theirs, account: foreign, page });
    expect(await lastOf(sidOf(before.access_token))).toMatchObject({
      type: 'SessionRevoked',
      data: { reason: 'replaced' },
      metadata: { tenantId: admin.tenantId },
    });
  });

  it('oauth 31 goes on where the same account signs in once more', async () => {
    const page = browser(fixture);
    const before = await authorized(fixture, { client: shop, account: ann, page });
    const more = { prompt: 'login' };
    const after = await authorized(fixture, { client: shop, account: ann, page, more });
    expect(sidOf(after.access_token)).not.toBe(sidOf(before.access_token));
    expect((await introspect(before.access_token)).active).toBe(true);
  });
});

describe('a session of an application', () => {
  const grants = { first_party: true };
  const replace = async (page: Browser, client: TestClient) => {
    const bob = await fixture.register(admin.tenantId);
    const more = { prompt: 'login' };
    await authorized(fixture, { client, account: bob, page, more });
  };

  it('oauth 36 without offline_access ends with the sign-in of its browser', async () => {
    const client = await application(fixture, admin, grants);
    const page = browser(fixture);
    const tokens = await authorized(fixture, { client, account: ann, page });
    expect(tokens.scope.split(' ')).not.toContain('offline_access');
    expect((await refresh(client, tokens.refresh_token)).status).toBe(200);
    await replace(page, client);
    await untilTrue(async () => !(await introspect(tokens.access_token)).active, {
      what: 'the session has ended',
    });
    const last = await lastOf(sidOf(tokens.access_token));
    expect(last).toMatchObject({ type: 'SessionRevoked', data: { reason: 'browser' } });
  });

  it('oauth 36 with offline_access says so in its scope and goes on', async () => {
    const client = await application(fixture, admin, grants);
    const page = browser(fixture);
    const more = { scope: 'openid offline_access' };
    const tokens = await authorized(fixture, { client, account: ann, page, more });
    expect(tokens.scope.split(' ')).toContain('offline_access');
    const bound = await authorized(fixture, { client, account: ann, page });
    await replace(page, client);
    await untilTrue(async () => !(await introspect(bound.access_token)).active, {
      what: 'the other session has ended',
    });
    const after = await refresh(client, tokens.refresh_token);
    expect(after).toMatchObject({ status: 200 });
    expect(after.body.scope.split(' ')).toContain('offline_access');
  });

  it('oauth 36 with offline_access in a pushed request goes on, too', async () => {
    const client = await application(fixture, admin, grants);
    const { verifier, challenge } = pkce();
    const url = authorizeUrl(client, { code_challenge: challenge, scope: 'openid offline_access' });
    const pushed = await fetch(`${fixture.baseUrl}/oauth2/par`, {
      method: 'POST',
      body: new URL(url, fixture.baseUrl).searchParams,
    });
    const { request_uri } = (await pushed.json()) as { request_uri: string };
    const { client_id } = client;
    const to = `/oauth2/authorize?${new URLSearchParams({ client_id, request_uri })}`;
    const back = await signIn(browser(fixture), to, { account: ann });
    const code = back.searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, client_id };
    const { body } = await token(fixture, { ...form, redirect_uri: REDIRECT });
    expect(body.scope.split(' ')).toContain('offline_access');
    expect(await lastOf(sidOf(body.access_token))).toMatchObject({ data: { browser_sid: null } });
  });

  it('oauth 36 whose user gives no offline_access is without it, and ends so', async () => {
    const client = await application(fixture, admin);
    const page = browser(fixture);
    const more = { scope: 'openid offline_access' };
    const of = { client, account: ann, page, more, scopes: ['openid'] };
    const tokens = await authorized(fixture, of);
    expect(tokens.scope.split(' ')).not.toContain('offline_access');
    expect(await lastOf(sidOf(tokens.access_token))).toMatchObject({
      data: { browser_sid: expect.any(String) },
    });
  });
});

describe('a sign-out in a browser', () => {
  it('ends earlier sign-ins of the same person there, and no other [oauth 35]', async () => {
    const page = browser(fixture);
    const more = { prompt: 'login' };
    const signed = async (of: object = {}) =>
      authorized(fixture, { client: shop, account: ann, page, ...of });
    const [first, second, third] = [await signed(), await signed({ more }), await signed({ more })];
    const elsewhere = await signed({ page: browser(fixture) });
    expect((await introspect(first.access_token)).active).toBe(true);
    const hint = new URLSearchParams({ id_token_hint: third.id_token });
    await page.get(`/oauth2/session/end?${hint}`);
    for (const { access_token } of [second, first]) {
      await untilTrue(async () => !(await introspect(access_token)).active);
      expect(await lastOf(sidOf(access_token))).toMatchObject({ data: { reason: 'logout' } });
    }
    expect((await introspect(elsewhere.access_token)).active).toBe(true);
  });
});

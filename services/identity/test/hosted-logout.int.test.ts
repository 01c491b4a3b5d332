/** What applications and other sites achieve by redirecting a browser to the logout endpoint. */
import { createHmac } from 'node:crypto';
import * as openid from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf } from './identity-fixture.ts';
import {
  application,
  authorized,
  type Browser,
  browser,
  clientOf,
  oauthCalls,
  oauthOfFile,
  type TestClient,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const { authorize, introspect } = oauthCalls(() => fixture);
const END = '/oauth2/session/end';
const BYE = 'http://127.0.0.1:9/bye?from=%7eshop';
const FIELDS = {
  first_party: true,
  grant_types: ['authorization_code'],
  post_logout_redirect_uris: [BYE],
};
let shop: TestClient;
let ann: Account;
beforeAll(async () => {
  ann = await fixture.register(admin.tenantId);
  shop = await application(fixture, admin, FIELDS);
});

type Flow = {
  readonly page: Browser;
  readonly access_token: string;
  readonly id_token: string;
};
const signedIn = (account = ann, client = shop): Promise<Flow> =>
  authorized(fixture, { client, account });
const ended = (page: Browser, asked: object = {}) =>
  page.get(`${END}?${new URLSearchParams(asked as Record<string, string>)}`);
/** Whether the browser is still signed in, according to the application's response and its token. */
const goesOn = async ({ page, access_token }: Flow, client = shop) => {
  const { location } = await page.get(authorize(client, { prompt: 'none' }));
  const { active } = await introspect(access_token);
  expect(location.includes('code=')).toBe(active);
  if (!active) expect(location).toContain('error=login_required');
  return active as boolean;
};
const back = { client_id: '', post_logout_redirect_uri: BYE, state: 'a b' };
const ofShop = () => ({ ...back, client_id: shop.client_id });
const CAME_BACK = `${BYE}&state=a+b`;

describe('the logout endpoint', () => {
  it('signs out by a hint of openid-client without a question, and goes back with the state [oauth 35]', async () => {
    const flow = await signedIn();
    const config = await clientOf(fixture, shop.client_id, openid.None());
    const url = openid.buildEndSessionUrl(config, {
      ...{ id_token_hint: flow.id_token, post_logout_redirect_uri: BYE, state: 'a b' },
    });
    expect(url.origin + url.pathname).toBe(`${fixture.issuer}${END}`);
    const answer = await flow.page.get(url.pathname + url.search);
    expect([answer.status, answer.location]).toEqual([303, CAME_BACK]);
    expect([...flow.page.jar.keys()].filter((name) => name.includes('session'))).toEqual([]);
    expect(await goesOn(flow)).toBe(false);
    const { sid } = claimsOf(flow.id_token);
    const events = await fixture.eventsSince(0n);
    expect(events.findLast(({ streamId }) => streamId === `session-${sid}`)).toMatchObject({
      type: 'SessionRevoked',
      data: { reason: 'logout', kind: 'browser' },
    });
  });

  it('shows a page where no address was asked for, and says the same a second time [oauth 35]', async () => {
    const flow = await signedIn();
    for (const time of ['first', 'second']) {
      const { status, text } = await ended(flow.page, { id_token_hint: flow.id_token });
      expect([time, status]).toEqual([time, 200]);
      expect(text).toContain('You are signed out');
    }
    expect(await goesOn(flow)).toBe(false);
  });

  it('takes a form of an application as the same request as an address [oauth 35]', async () => {
    const flow = await signedIn();
    const form = { id_token_hint: flow.id_token, ...ofShop() };
    const sent = await flow.page.form(END, form, { origin: 'https://shop.example', cookie: '' });
    expect(sent.status).toBe(303);
    expect((await flow.page.get(sent.location)).location).toBe(CAME_BACK);
    expect(await goesOn(flow)).toBe(false);
  });

  it('asks without a hint; the answer of its own page signs out and goes back [oauth 35]', async () => {
    const flow = await signedIn();
    const asked = await ended(flow.page, ofShop());
    expect(asked.status).toBe(200);
    expect(asked.text).toContain('Sign out?');
    expect(asked.text).toContain(ann.email);
    const policy = asked.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("form-action 'self' http://127.0.0.1:9;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(await goesOn(flow)).toBe(true);
    const fields = [...asked.text.matchAll(/name="(\w+)" value="([^"]*)"/g)];
    const form = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
    expect(form).toEqual(ofShop());
    const done = await flow.page.form(`${END}/confirm`, form);
    expect([done.status, done.location]).toEqual([303, CAME_BACK]);
    expect(await goesOn(flow)).toBe(false);
  });

  it("is left alone by another site's page, with and without a form [oauth 35]", async () => {
    const flow = await signedIn();
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: 'http://127.0.0.1:65530.evil.example' },
    ];
    for (const headers of foreign) {
      const { status, text } = await flow.page.form(`${END}/confirm`, ofShop(), headers);
      expect([headers, status]).toEqual([headers, 403]);
      expect(text).toContain('not sent from our own page');
    }
    // An image or a frame on another site sends no cookie.
    const plain = await fetch(`${fixture.baseUrl}${END}`, { headers: { accept: 'image/*' } });
    expect(plain.status).toBe(200);
    expect((await flow.page.get(END, { accept: 'application/json' })).status).toBe(200);
    const head = await fetch(`${fixture.baseUrl}${END}`, { method: 'HEAD' });
    expect(head.status).toBe(405);
    expect(await goesOn(flow)).toBe(true);
  });

  it('asks with a hint that proves nothing about who is signed in [oauth 35]', async () => {
    const bob = await fixture.register(admin.tenantId);
    const elsewhere = await fixture.signUp();
    const theirs = await application(fixture, elsewhere, FIELDS);
    const flow = await signedIn();
    const { id_token: other } = await signedIn(bob);
    const { id_token: foreign } = await signedIn(elsewhere, theirs);
    const [head = '', body = '', signature = ''] = flow.id_token.split('.');
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { keys } = (await fixture.rest.get('/oauth2/jwks')).body;
    const { n } = keys.find(({ kty }: { kty: string }) => kty === 'RSA');
    const signed = `${encoded({ ...headerOf(head), alg: 'HS256' })}.${body}`;
    const hmac = createHmac('sha256', n).update(signed).digest('base64url');
    const hints = {
      "another person's": other,
      "another tenant's": foreign,
      'an access token': flow.access_token,
      'an unsigned one': `${encoded({ alg: 'none', typ: 'JWT' })}.${body}.`,
      'one without its signature': `${head}.${body}.`,
      'one with the name of another algorithm': `${encoded({ ...headerOf(head), alg: 'ES256' })}.${body}.${signature}`,
      'one signed with a public key': `${signed}.${hmac}`,
      'one with a changed subject': `${head}.${encoded({ ...claimsOf(other), sub: ann.userId })}.${signature}`,
      'a key that is its own': `${encoded({ ...headerOf(head), kid: 'x', jwk: keys[0] })}.${body}.${signature}`,
      'no token': 'x'.repeat(9_000),
    };
    for (const [name, id_token_hint] of Object.entries(hints)) {
      const { status, text } = await ended(flow.page, { id_token_hint });
      expect([name, status, text.includes('Sign out?')]).toEqual([name, 200, true]);
    }
    expect(await goesOn(flow)).toBe(true);
  });

  it('goes back after the question only where no hint was broken [oauth 35]', async () => {
    const flow = await signedIn();
    const asked = await ended(flow.page, { ...ofShop(), id_token_hint: `${flow.id_token}x` });
    expect(asked.text).toContain('Sign out?');
    expect(asked.text).not.toContain('name="post_logout_redirect_uri"');
    const done = await flow.page.form(`${END}/confirm`);
    expect([done.status, done.location]).toEqual([200, '']);
    expect(await goesOn(flow)).toBe(false);
  });

  it('refuses an address that is not registered and a client that is not the hint’s; nothing ends [oauth 35]', async () => {
    const other = await application(fixture, admin, FIELDS);
    const flow = await signedIn();
    const id_token_hint = flow.id_token;
    const requests = [
      { ...ofShop(), post_logout_redirect_uri: 'http://127.0.0.1:9/bye' },
      { id_token_hint, post_logout_redirect_uri: `${BYE}/more` },
      { id_token_hint, post_logout_redirect_uri: BYE.replace('%7e', '~') },
      { id_token_hint, ...ofShop(), client_id: other.client_id },
      { client_id: 'nobody' },
      { ...ofShop(), client_id: 'https://evil.example/client' },
    ];
    for (const asked of requests) {
      const { status, location, headers } = await ended(flow.page, asked);
      expect([asked, status, location]).toEqual([asked, 400, '']);
      expect(headers.get('content-type')).toContain('text/html');
    }
    const url = `${END}?${new URLSearchParams({ client_id: 'nobody' })}`;
    const asProgram = await flow.page.get(url, { accept: 'application/json' });
    expect([asProgram.status, asProgram.body.error]).toEqual([400, 'invalid_request']);
    const tampered = { ...ofShop(), post_logout_redirect_uri: 'https://evil.example/' };
    expect((await flow.page.form(`${END}/confirm`, tampered)).status).toBe(400);
    expect(await goesOn(flow)).toBe(true);
  });

  it('goes back where nobody is signed in, and where the sign-in was ended before [oauth 35]', async () => {
    const stranger = browser(fixture);
    expect((await ended(stranger, ofShop())).location).toBe(CAME_BACK);
    expect((await ended(stranger)).text).toContain('You are signed out');
    const flow = await signedIn();
    const { sid } = claimsOf(flow.id_token);
    expect((await fixture.as(ann).delete(`/api/v1/me/sessions/${sid}`)).status).toBe(200);
    expect((await ended(flow.page, ofShop())).location).toBe(CAME_BACK);
  });

  it('leaves a consent page that was open without its person [oauth 31]', async () => {
    const third = await application(fixture, admin);
    const flow = await signedIn();
    const { location } = await flow.page.get(authorize(third));
    expect((await flow.page.get(location)).text).toContain(ann.email);
    await ended(flow.page, { id_token_hint: flow.id_token });
    const shown = await flow.page.get(location);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('Somebody else has signed in or out');
  });

  it('speaks the language that the application asks for [oauth 35]', async () => {
    const flow = await signedIn();
    const asked = await ended(flow.page, { ui_locales: 'de' });
    expect(asked.text).toContain('Abmelden?');
  });
});

const headerOf = (segment: string): object =>
  JSON.parse(Buffer.from(segment, 'base64url').toString());

/** How people sign in to Cardea's own pages, over HTTP as a browser does it. */
import { formToken, pageCookies } from '@cardea/pages';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf, PASSWORD } from './identity-fixture.ts';
import { type Browser, browser, oauthCalls, oauthOfFile, token } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const { introspect } = oauthCalls(() => fixture);
const SIGN_IN = '/account/sign-in';
let ann: Account;
beforeAll(async () => {
  ann = await fixture.register(admin.tenantId);
});

const cookies = () => pageCookies(fixture.host.needsOf('identity').pageKeys, fixture.settings);
const renew = (text: string) =>
  fixture.host.needsOf('identity').peers.identity.pageToken({ token: text });
/** The contents of the pages' cookie in a browser. */
function pageOf(page: Browser) {
  const found = [...page.jar.values()].find(({ name }) => name === 'cardea');
  return found === undefined ? undefined : cookies().read({ cookie: `cardea=${found.value}` });
}

/** Follows the browser from one of our addresses to a page that needs input. */
async function follow(page: Browser, to: string) {
  let [at, answer] = [to, await page.get(to)];
  for (let step = 0; step < 10 && answer.status === 303; step += 1) {
    at = answer.location;
    if (/^\/(approve|account$)/.test(new URL(at, fixture.baseUrl).pathname)) break;
    answer = await page.get(at);
  }
  return { at, answer };
}

async function signIn(page: Browser, account: Pick<Account, 'email'>, query: object = {}) {
  const asked = new URLSearchParams({ in: admin.tenantId, ...query });
  const { at } = await follow(page, `${SIGN_IN}?${asked}`);
  const path = new URL(at, fixture.baseUrl).pathname;
  if (path.startsWith('/approve') || path === '/account') return path;
  const done = await page.post(`${path}/login`, { email: account.email, password: PASSWORD });
  expect(done.text).toContain('redirect_to');
  const end = await follow(page, done.body.redirect_to);
  return end.at;
}

describe('people 2 the sign-in to pages', () => {
  it('asks nobody for consent, and puts a token of the person into a sealed cookie', async () => {
    const page = browser(fixture);
    expect(await signIn(page, ann, { return_to: '/approve/x1' })).toBe('/approve/x1');
    const { token: text = '' } = pageOf(page) ?? {};
    expect(claimsOf(text)).toMatchObject({
      sub: ann.userId,
      tid: admin.tenantId,
      client_id: `pages.${admin.tenantId}`,
      scope: 'openid profile roles account',
      roles: ['member'],
      amr: ['pwd'],
    });
    expect(await introspect(text)).toMatchObject({ active: true });
    const session = [...page.jar.values()].find(({ name }) => name === 'cardea');
    expect(session?.value).not.toContain('.');
    // The flow's own cookie was removed.
    expect([...page.jar.values()].filter(({ name }) => name.startsWith('pages-'))).toEqual([]);
    const listed = await fixture.as(ann).get('/api/v1/auth/consents');
    expect(listed.body).toEqual({ consents: [] });
  });

  it('signs in at once where the browser is signed in, and anew where that is asked for', async () => {
    const page = browser(fixture);
    await signIn(page, ann);
    expect((await follow(page, `${SIGN_IN}?in=${admin.tenantId}`)).at).toBe('/account');
    const fresh = await follow(page, `${SIGN_IN}?in=${admin.tenantId}&fresh=true`);
    expect(fresh.at).toContain('/oauth2/interaction/');
  });

  it.each([
    'https://evil.example/approve',
    '//evil.example/approve',
    '/\\evil.example',
    '/approve\\..\\x',
    '/api/v1/me',
    '/account/callback',
    '/approve/../../api',
    'javascript:alert(1)',
    'approve',
    '',
  ])('leads to no other place than a page: %s', async (target) => {
    const page = browser(fixture);
    expect(await signIn(page, ann, { return_to: target })).toBe('/account');
  });

  it('takes the slug of a tenant, and asks for it where it is none', async () => {
    const { body } = await fixture.as(admin).get('/api/v1/auth/me');
    const found = await follow(browser(fixture), `${SIGN_IN}?in=${body.tenant.slug}`);
    expect(found.at).toContain('/oauth2/interaction/');
    const unknown = await browser(fixture).get(`${SIGN_IN}?in=%3Cb%3Enobody`);
    expect(unknown.status).toBe(200);
    expect(unknown.text).toContain('No organization has this short name.');
    expect(unknown.text).toContain('&lt;b&gt;nobody');
  });
});

describe('people 6 the way back', () => {
  const begun = async (page: Browser) => {
    const { location } = await page.get(`${SIGN_IN}?in=${admin.tenantId}`);
    return new URL(location);
  };

  it('takes a code in the browser that began it alone, once, with its own state', async () => {
    const page = browser(fixture);
    await signIn(page, ann);
    const authorize = await begun(page);
    const { location } = await page.get(authorize.href);
    const back = new URL(location);
    const there = back.pathname + back.search;
    expect((await browser(fixture).get(there)).status).toBe(400);
    const forged = new URL(back);
    forged.searchParams.set('state', 'x'.repeat(32));
    expect((await page.get(forged.pathname + forged.search)).status).toBe(400);
    expect((await page.get(there)).status).toBe(303);
    const again = await page.get(there);
    expect(again.status).toBe(400);
    expect(again.text).toContain('This sign-in was not finished');
  });

  it('redeems no code of a flow that another one began, and no code at all twice at once', async () => {
    const [mine, theirs] = [browser(fixture), browser(fixture)];
    await signIn(mine, ann);
    await signIn(theirs, await fixture.register(admin.tenantId));
    const { location } = await theirs.get((await begun(theirs)).href);
    const code = new URL(location).searchParams.get('code') ?? '';
    const state = (await begun(mine)).searchParams.get('state') ?? '';
    const swapped = await mine.get(`/account/callback?${new URLSearchParams({ code, state })}`);
    expect(swapped.status).toBe(400);

    const back = new URL((await mine.get((await begun(mine)).href)).location);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => mine.get(back.pathname + back.search)),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  it('is no client that anybody else can be', async () => {
    const page = browser(fixture);
    await signIn(page, ann);
    const authorize = await begun(page);
    const back = new URL((await page.get(authorize.href)).location);
    const client_id = `pages.${admin.tenantId}`;
    for (const client_secret of [undefined, '', 'cs_x']) {
      const answer = await token(fixture, {
        grant_type: 'authorization_code',
        code: back.searchParams.get('code'),
        redirect_uri: authorize.searchParams.get('redirect_uri'),
        code_verifier: 'v'.repeat(43),
        client_id,
        ...(client_secret === undefined ? {} : { client_secret }),
      });
      expect(answer.status).toBe(401);
    }
    const elsewhere = new URL(authorize);
    elsewhere.searchParams.set('redirect_uri', 'http://127.0.0.1:9/callback');
    const refused = await page.get(elsewhere.pathname + elsewhere.search);
    expect([refused.status, refused.location]).toEqual([400, '']);
    const shown = await fixture.as(admin).get(`/api/v1/admin/applications/${client_id}`);
    expect(shown.status).toBe(404);
  });
});

describe('people 4 a token of the pages', () => {
  it('is not renewed once the person has signed out, or may not sign in any more', async () => {
    const bob = await fixture.register(admin.tenantId);
    const page = browser(fixture);
    await signIn(page, bob);
    const { token: text = '' } = pageOf(page) ?? {};
    const disabled = { status: 'disabled' };
    await fixture.as(admin).patch(`/api/v1/admin/users/${bob.userId}`, disabled);
    expect(await renew(text)).toEqual({ token: null });
  });

  it('is nothing but a token of the pages: no other token of the person is renewed', async () => {
    expect(await renew(ann.access)).toEqual({ token: null });
    expect(await renew('x.y.z')).toEqual({ token: null });
  });

  it('is renewed while the sign-in goes on, also once it has expired, with the roles of now', async () => {
    const bob = await fixture.registerVerified(admin.tenantId);
    const page = browser(fixture);
    await signIn(page, bob);
    const { token: first = '' } = pageOf(page) ?? {};
    const path = `/api/v1/admin/users/${bob.userId}`;
    const changed = await fixture.as(admin).patch(path, { roles: ['member', 'admin'] });
    expect(changed.status, changed.text).toBe(200);
    const { token: second } = await renew(first);
    expect(claimsOf(second ?? '')['roles']).toContain('admin');
    fixture.clock.move(1_800_000);
    expect((await introspect(first)).active).toBe(false);
    const { token: third } = await renew(first);
    expect(claimsOf(third ?? '')['sub']).toBe(bob.userId);
  });
});

describe('the sign-out of the pages', () => {
  it('ends the session for all, by a form of its own page alone', async () => {
    const page = browser(fixture);
    await signIn(page, ann);
    const cookie = pageOf(page);
    const right = formToken(cookie ?? { token: '', nonce: '' }, '/account/sign-out');
    const foreign = await page.form(
      '/account/sign-out',
      { form_token: right },
      { origin: 'https://evil.example' },
    );
    expect(foreign.status).toBe(403);
    expect((await page.form('/account/sign-out', { form_token: 'x' })).status).toBe(403);
    expect(pageOf(page)).toBeDefined();

    const done = await page.form('/account/sign-out', { form_token: right });
    expect([done.status, done.text.includes('You are signed out')]).toEqual([200, true]);
    expect(pageOf(page)).toBeUndefined();
    expect(await renew(cookie?.token ?? '')).toEqual({ token: null });
    expect((await introspect(cookie?.token ?? '')).active).toBe(false);
    const next = await follow(page, `${SIGN_IN}?in=${admin.tenantId}`);
    expect(next.at).toContain('/oauth2/interaction/');
  });
});

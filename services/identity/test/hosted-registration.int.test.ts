/** Registering at the hosted pages (`prompt=create`), from the authorization request to the code. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import {
  application,
  authorizeUrl,
  type Browser,
  browser,
  oauthOfFile,
  pkce,
  type TestClient,
} from './oauth-fixture.ts';

const { fixture } = oauthOfFile();
let admin: Account;
let shop: TestClient;
beforeEach(async () => {
  admin = await fixture.signUp();
  shop = await application(fixture, admin, { first_party: true });
});

const absolute = (at: string) => new URL(at, fixture.issuer).href;
let numbers = 0;
const newAddress = () => {
  numbers += 1;
  return `new.${numbers}.${Date.now()}@example.com`;
};
const CODE = /Or type this code [^:]+: (\S+)/;
const mailed = async (email: string) => {
  const { text, link, token } = await fixture.mail(email, /Confirm/);
  return { code: CODE.exec(text)?.[1] ?? '', link, token };
};

async function begun(page: Browser, more: { [name: string]: string } = { prompt: 'create' }) {
  const url = authorizeUrl(shop, { code_challenge: pkce().challenge, ...more });
  return absolute((await page.get(url)).location);
}
const register = (page: Browser, at: string, email: string, password = PASSWORD) =>
  page.form(`${at}/register`, { email, password, display_name: '' });

/** Follows the browser to the application's response. */
async function ended(page: Browser, location: string) {
  const back = await page.get(location);
  return new URL(back.location).searchParams;
}

describe('the registration at the hosted pages', () => {
  it('ends with a code for the application, by the mailed code [oauth-30]', async () => {
    const [page, email] = [browser(fixture), newAddress()];
    const at = await begun(page);
    const shown = await page.get(at);
    expect(shown.text).toContain('autocomplete="new-password"');
    expect((await page.get(at, { accept: 'application/json' })).body).toMatchObject({
      ...{ prompt: 'create', registration: { password_min: 8 } },
    });
    const made = await register(page, at, email);
    expect([made.status, absolute(made.location)]).toEqual([303, at]);
    expect((await page.get(at)).text).toContain(`A mail to ${email} is on its way`);
    const { code } = await mailed(email);
    const wrong = await page.form(`${at}/verify-email`, { code: 'AAAA-AAAA' });
    expect([wrong.status, wrong.text.includes('That code is not right')]).toEqual([401, true]);
    const proven = await page.form(`${at}/verify-email`, { code: code.toLowerCase() });
    expect(proven.status, proven.text).toBe(303);
    expect((await ended(page, proven.location)).get('code')).toBeTruthy();
    // The password that was chosen on the page stays, and the address is proven.
    const login = await fixture.logIn({ tenantId: admin.tenantId, email });
    expect(login.body).toMatchObject({ email_verified: true });
    const used = await page.form(`${at}/verify-email`, { code });
    expect([used.status, used.text.includes('has lapsed')]).toEqual([404, true]);
  });

  it('ends by the mailed link in the same browser, and elsewhere proves the address alone [oauth-30]', async () => {
    const [page, email] = [browser(fixture), newAddress()];
    const at = await begun(page);
    await register(page, at, email);
    const { link, token } = await mailed(email);
    expect(link).toBe(`${at}/verify-email#token=${token}`);
    const elsewhere = await browser(fixture).get(link);
    expect([elsewhere.status, elsewhere.location]).toEqual([
      303,
      'http://cardea.test/api/v1/auth/verify-email?elsewhere=true',
    ]);
    expect((await page.get(link)).text).toContain('Confirm your e-mail address');
    const proven = await page.form(`${at}/verify-email`, { token });
    expect((await ended(page, proven.location)).get('code')).toBeTruthy();
  });

  it('tells nothing of an address that is taken [bounds-P4]', async () => {
    const bob = await fixture.register(admin.tenantId);
    const answers = [];
    for (const email of [newAddress(), bob.email]) {
      const page = browser(fixture);
      const at = await begun(page);
      const said = [await register(page, at, email), await page.get(at)];
      for (let wrong = 0; wrong < 12; wrong += 1) {
        said.push(await page.form(`${at}/verify-email`, { code: 'AAAA-AAAA' }));
      }
      said.push(await page.form(`${at}/verify-email`));
      const json = await page.get(at, { accept: 'application/json' });
      const uid = at.split('/').at(-1) ?? '';
      const hidden = (text: string) =>
        text
          .replaceAll(email, 'EMAIL')
          .replaceAll(uid, 'UID')
          .replaceAll(/\d+ (s|min|h)\b/g, 'TIME');
      answers.push([
        hidden(JSON.stringify(json.body)),
        ...said.map(({ status, text }) => [status, hidden(text)]),
      ]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(JSON.stringify(answers[0])).toMatch(/Too many attempts. Try again in TIME/);
    const notice = await fixture.mail(bob.email, /already/);
    expect(notice.text).not.toMatch(CODE);
    expect((await fixture.logIn(bob)).status).toBe(200);
  });

  it('proves no other account than the one that was made in this browser [bounds-P4]', async () => {
    const [page, email, other] = [browser(fixture), newAddress(), newAddress()];
    const at = await begun(page);
    await register(page, at, email);
    const own = await mailed(email);
    const second = browser(fixture);
    const there = await begun(second);
    await register(second, there, other);
    const foreign = await mailed(other);
    for (const shown of [{ code: foreign.code }, { token: foreign.token }]) {
      expect((await page.form(`${at}/verify-email`, shown)).status).toBe(401);
    }
    // Neither code nor link was consumed.
    const proven = await page.form(`${at}/verify-email`, { token: own.token });
    expect((await ended(page, proven.location)).get('code')).toBeTruthy();
    const also = await second.form(`${there}/verify-email`, { code: foreign.code });
    expect((await ended(second, also.location)).get('code')).toBeTruthy();
  });

  it('is void after the password was set anew [bounds-P3]', async () => {
    const [page, email] = [browser(fixture), newAddress()];
    const at = await begun(page);
    await register(page, at, email);
    const { code } = await mailed(email);
    const forgotten = { email };
    await fixture.rest.post('/api/v1/auth/forgot-password', forgotten, { tenant: admin.tenantId });
    const { token } = await fixture.mail(email, /Set a new password/);
    const new_password = 'another horse battery';
    await fixture.rest.post('/api/v1/auth/reset-password', { token, new_password });
    expect((await page.form(`${at}/verify-email`, { code })).status).toBe(401);
  });

  it('refuses what the API refuses, and keeps what was typed but the password', async () => {
    const [page, email] = [browser(fixture), newAddress()];
    const at = await begun(page);
    const short = await page.form(`${at}/register`, {
      ...{ email, password: 'short', display_name: 'Eva <i>' },
    });
    expect(short.status).toBe(400);
    expect(short.text).toContain('That password is too short');
    expect(short.text).toContain(`value="${email}"`);
    expect(short.text).toContain('value="Eva &lt;i&gt;"');
    expect(short.text).not.toContain('value="short"');
    const bad = await page.post(`${at}/register`, { email: 'eva', password: PASSWORD });
    expect(bad.body).toMatchObject({ error: 'invalid_email' });
    const foreign = await page.form(
      `${at}/register`,
      { email, password: PASSWORD },
      { origin: 'https://evil.example' },
    );
    expect(foreign.status).toBe(403);
  });

  it('is the sign-in where registration is not open, and has no link there [oauth-30]', async () => {
    const page = browser(fixture);
    expect((await page.get(await begun(page, {}))).text).toContain('Create account');
    await fixture.setTenant(admin.tenantId, { registration: { mode: 'closed' } });
    const at = await begun(page);
    const shown = await page.get(at);
    expect(shown.text).toContain('autocomplete="current-password"');
    expect(shown.text).not.toContain('Create account');
    const refused = await register(page, at, newAddress());
    expect([refused.status, refused.text.includes('Nobody can register here')]).toEqual([
      403,
      true,
    ]);
    const signed = await page.form(`${at}/login`, { email: admin.email, password: PASSWORD });
    expect((await ended(page, signed.location)).get('code')).toBeTruthy();
  });

  it('can be left for the sign-in, and reached from it [people-7]', async () => {
    const [page, email] = [browser(fixture), newAddress()];
    const at = await begun(page, {});
    await page.form(`${at}/register`);
    expect((await page.get(at)).text).toContain('autocomplete="new-password"');
    await page.form(`${at}/restart`);
    expect((await page.get(at)).text).toContain('autocomplete="current-password"');
    await page.form(`${at}/register`);
    await register(page, at, email);
    const proven = await page.form(`${at}/verify-email`, { code: (await mailed(email)).code });
    expect((await ended(page, proven.location)).get('code')).toBeTruthy();
  });

  it('begins another account where somebody is signed in, and asks for a second factor that is required', async () => {
    const page = browser(fixture);
    const first = await begun(page, {});
    const signed = await page.form(`${first}/login`, { email: admin.email, password: PASSWORD });
    await ended(page, signed.location);
    await fixture.setTenant(admin.tenantId, { mfa_policy: 'required' });
    const email = newAddress();
    const at = await begun(page);
    await register(page, at, email);
    const proven = await page.form(`${at}/verify-email`, { code: (await mailed(email)).code });
    expect(absolute(proven.location)).toBe(at);
    expect((await page.get(at)).text).toContain('Set up a second step');
  });

  it('sends the mail again, within the limits of mail', async () => {
    const [page, email] = [browser(fixture), newAddress()];
    const at = await begun(page);
    await register(page, at, email);
    const before = await mailed(email);
    const again = await page.form(`${at}/verify-email`);
    expect(again.status).toBe(303);
    await expect.poll(async () => (await mailed(email)).code).not.toBe(before.code);
    const statuses = [];
    for (let more = 0; more < 3; more += 1) {
      statuses.push((await page.form(`${at}/verify-email`)).status);
    }
    expect(statuses).toEqual([303, 303, 429]);
    expect((await page.form(`${at}/verify-email`, { code: before.code })).status).toBe(401);
    const { code } = await mailed(email);
    expect(code).toBeTruthy();
  });
});

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  CALLBACK,
  CHROMIUM,
  type ChromiumFixture,
  hostedOfFile,
  ISSUER,
  signInUrl,
  withAuthenticator,
} from './chromium-fixture.ts';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { nextCode, withTotp } from './mfa-fixture.ts';
import { application, type OAuthFixture, type TestClient } from './oauth-fixture.ts';
import { expectFaultless, submit, tabOrder } from './page-checks.ts';

const STEP_MS = 120_000;
const PHONE = { viewport: { width: 390, height: 844 } };
const DESK = { viewport: { width: 1280, height: 800 } };

let fixture: OAuthFixture;
let chromium: ChromiumFixture;
let admin: Account;
let shop: TestClient;
let strict: Account;
let strictShop: TestClient;

const settings = async (of: Account, change: object) => {
  const path = `/api/v1/admin/tenants/${of.tenantId}`;
  const answer = await fixture.as(of).patch(path, { settings: change });
  expect(answer.status, answer.text).toBe(200);
};

const enterPassword = async (page: Page, { email }: Pick<Account, 'email'>) => {
  await page.fill('#email', email);
  await page.fill('#password', PASSWORD);
  await page.click('button[value=password]');
};
const arrived = async (page: Page) => {
  await page.waitForURL(/callback\?code=/);
};
/** Enrolling a first factor shows recovery codes, for the case that it is lost. */
const keepCodes = async (page: Page) => {
  await page.waitForSelector('ul.codes');
  expect(await page.locator('ul.codes li').count()).toBe(10);
  await page.click('a.button.main');
};

describe.skipIf(CHROMIUM === undefined)('the hosted pages in Chromium', () => {
  const hosted = hostedOfFile();
  beforeAll(async () => {
    ({ fixture, chromium, admin, shop } = hosted);
    strict = await fixture.signUp('stella');
    const own = { redirect_uris: [CALLBACK], first_party: true };
    strictShop = await application(fixture, strict, own);
    await settings(admin, { branding: { primary_color: '#ffcc00' } });
  }, STEP_MS);

  it(
    'identity 11 enrol a passkey where policy asks for one, and sign in with it alone',
    async () => {
      await settings(strict, { mfa_policy: 'required' });
      const page = await chromium.open(PHONE);
      await withAuthenticator(page);
      await page.goto(signInUrl(strictShop));
      await enterPassword(page, strict);
      await page.waitForSelector('form[action$="/mfa"] button.main');
      await expectFaultless(page);
      await submit(page, 'mfa');
      await keepCodes(page);
      await arrived(page);
      await page.context().clearCookies();
      // The browser offers the passkey at the address field.
      await page.goto(signInUrl(strictShop));
      await arrived(page);
    },
    STEP_MS,
  );

  it(
    'identity 11 take a passkey as the second factor, and none without its person',
    async () => {
      const erin = await fixture.register(admin.tenantId, 'erin');
      const page = await chromium.open(DESK);
      const authenticator = await withAuthenticator(page);
      await settings(admin, { mfa_policy: 'required' });
      await page.goto(signInUrl(shop));
      await enterPassword(page, erin);
      await submit(page, 'mfa');
      await keepCodes(page);
      await arrived(page);
      await settings(admin, { mfa_policy: 'optional' });
      await page.context().clearCookies();
      await authenticator.isUserVerified(false);
      await page.goto(signInUrl(shop));
      await enterPassword(page, erin);
      await page.waitForSelector('form[action$="/mfa"][data-challenge]:not([hidden])');
      await submit(page, 'mfa');
      await page.waitForSelector('form[data-challenge] [role=alert]:not([hidden])');
      await authenticator.isUserVerified(true);
      await submit(page, 'mfa');
      await arrived(page);
    },
    STEP_MS,
  );

  it(
    'enrol an authenticator app without a script, and show the recovery codes once',
    async () => {
      await settings(admin, { mfa_policy: 'required' });
      const carl = await fixture.register(admin.tenantId, 'carl');
      const page = await chromium.open({ ...PHONE, javaScriptEnabled: false, locale: 'de-DE' });
      await page.goto(signInUrl(shop));
      await enterPassword(page, carl);
      await page.click('form[action$="/challenge"] button');
      const secret = ((await page.textContent('.secret')) ?? '').replaceAll(' ', '');
      expect(await page.locator('.qr svg').count()).toBe(1);
      await page.fill('#code', '000000');
      await submit(page, 'mfa');
      expect(await page.textContent('[role=alert]')).toContain('Dieser Code ist nicht richtig');
      await page.fill('#code', nextCode(fixture, secret));
      await submit(page, 'mfa');
      await keepCodes(page);
      await arrived(page);
      await settings(admin, { mfa_policy: 'optional' });
    },
    STEP_MS,
  );

  it(
    'take a mailed code, and count a wrong one',
    async () => {
      const dora = await fixture.register(admin.tenantId, 'dora');
      const page = await chromium.open({ ...DESK, colorScheme: 'dark' });
      await page.goto(signInUrl(shop));
      await page.fill('#email', dora.email);
      await page.click('button[value=email_otp]');
      await page.waitForSelector('#code');
      await expectFaultless(page);
      await page.fill('#code', '0000-0000');
      await submit(page, 'login');
      await page.waitForSelector('[role=alert]');
      await expectFaultless(page);
      const { text } = await fixture.mail(dora.email, /code/i);
      const code = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0] ?? '';
      await page.fill('#code', code);
      await submit(page, 'login');
      await arrived(page);
    },
    STEP_MS,
  );

  it(
    'take a mailed link in the browser that asked for it, once, and in no other',
    async () => {
      const fred = await fixture.register(admin.tenantId, 'fred');
      const page = await chromium.open(PHONE);
      await page.goto(signInUrl(shop));
      await page.fill('#email', fred.email);
      await page.click('button[value=magic_link]');
      await page.waitForSelector('form[action$="/restart"]');
      const { link } = await fixture.mail(fred.email, /^sign in$/i);
      expect(link).toMatch(/\/oauth2\/interaction\/[\w-]+\/link#token=/);
      const other = await chromium.open(DESK);
      await other.goto(link);
      expect(await other.textContent('h1')).toBe('Go on in the other browser');
      await page.goto(link);
      await expectFaultless(page);
      await submit(page, 'login');
      await arrived(page);
    },
    STEP_MS,
  );

  it(
    'show what is wrong first, keep the address, and lead the Tab key down the page',
    async () => {
      const page = await chromium.open({ ...PHONE, colorScheme: 'dark' });
      await page.goto(signInUrl(shop, { ui_locales: 'fr de' }));
      await expectFaultless(page);
      expect(await page.getAttribute('html', 'lang')).toBe('de');
      const tops = await tabOrder(page);
      expect(tops.length).toBeGreaterThan(4);
      expect(tops).toEqual(tops.toSorted((one, other) => one - other));
      await page.fill('#email', 'nobody@example.com');
      await page.fill('#password', 'not the password');
      await page.click('button[value=password]');
      await page.waitForSelector('#alert');
      await expectFaultless(page);
      expect(await page.inputValue('#email')).toBe('nobody@example.com');
      expect(await page.inputValue('#password')).toBe('');
      expect(await page.title()).toMatch(/^Fehler: Anmelden/);
    },
    STEP_MS,
  );

  it(
    'ask for consent, and let somebody else sign in instead',
    async () => {
      const other = await application(fixture, admin, { redirect_uris: [CALLBACK] });
      const [gina, hugo] = [
        await fixture.register(admin.tenantId, 'gina'),
        await withTotp(fixture, await fixture.register(admin.tenantId, 'hugo')),
      ];
      const page = await chromium.open(DESK);
      await page.goto(signInUrl(other));
      await enterPassword(page, gina);
      await page.waitForSelector('form[action$="/consent"]');
      await expectFaultless(page);
      expect(await page.textContent('.account')).toContain(gina.email);
      await page.click('.account button');
      await enterPassword(page, hugo);
      await page.waitForSelector('#totp-code');
      await expectFaultless(page);
      await page.click('summary');
      await page.fill('#recovery-code', hugo.recoveryCodes[0] ?? '');
      await page.click('details button');
      await page.waitForSelector('form[action$="/consent"]');
      expect(await page.textContent('.account')).toContain(hugo.email);
      await page.uncheck('input[name="scope:email"]');
      await submit(page, 'consent');
      await arrived(page);
    },
    STEP_MS,
  );

  it(
    'take the links of mails by a click, in the colours of their tenant, and by hand without a script',
    async () => {
      const ida = await fixture.register(admin.tenantId, 'ida');
      const { link } = await fixture.mail(ida.email, /confirm/i);
      const page = await chromium.open(PHONE);
      await page.goto(link);
      await page.waitForURL(/tenant_id=/);
      await expectFaultless(page);
      expect(await page.textContent('header')).toContain('Company of ann');
      await page.fill('#password', PASSWORD);
      await page.click('button.main');
      await page.waitForSelector('h1:text("Your address is confirmed")');
      const body = { email: ida.email };
      await fixture.rest.post('/api/v1/auth/forgot-password', body, { tenant: admin.tenantId });
      const reset = (await fixture.mail(ida.email, /new password/i)).link;
      const plain = await chromium.open({ ...DESK, javaScriptEnabled: false });
      await plain.goto(reset);
      await plain.fill('#token', reset);
      await plain.fill('#new_password', 'a wholly new password');
      await plain.click('button.main');
      expect(await plain.textContent('h1')).toBe('Your new password is set');
      expect((await fixture.logIn(ida, 'a wholly new password')).status).toBe(200);
      await plain.goto('about:blank');
      await plain.goto(reset);
      await plain.fill('#token', reset);
      await plain.fill('#new_password', 'yet another password');
      await plain.click('button.main');
      expect(await plain.textContent('h1')).toBe('This link was used before');
    },
    STEP_MS,
  );

  it(
    'tell a browser what is wrong with a request, and nothing of it is run',
    async () => {
      const page = await chromium.open(DESK);
      for (const path of [
        '/oauth2/interaction/nothing',
        '/oauth2/authorize?client_id=%3Cscript%3E',
        '/api/v1/auth/social/google/callback?error=%3Cscript%3E',
      ]) {
        await page.goto(ISSUER + path);
        await expectFaultless(page);
        expect(await page.textContent('h1')).toBe('This did not work');
      }
    },
    STEP_MS,
  );
});

import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CALLBACK,
  CHROMIUM,
  type ChromiumFixture,
  hostedOfFile,
  ISSUER,
} from './chromium-fixture.ts';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { type OAuthFixture, oauthCalls, type TestClient } from './oauth-fixture.ts';
import { expectFaultless, tabOrder } from './page-checks.ts';
import { knownAt, newPerson, type SocialFixture, socialFixture } from './social-fixture.ts';

const STEP_MS = 120_000;
const COMMON_PASSWORD = 'password123';

let fixture: OAuthFixture;
let chromium: ChromiumFixture;
let social: SocialFixture;
let admin: Account;
let shop: TestClient;

const { authorize } = oauthCalls(() => fixture);
const checked = async (page: Page) => {
  await expectFaultless(page);
  const tops = await tabOrder(page);
  expect(tops).toEqual(tops.toSorted((one, other) => one - other));
};
const opened = async (options: BrowserContextOptions) => {
  const page = await chromium.open(options);
  await page.goto(ISSUER + authorize(shop, { redirect_uri: CALLBACK }));
  return page;
};

const SIZES: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone', { viewport: { width: 390, height: 844 }, locale: 'de-DE' }],
  ['desk', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }],
];

describe.skipIf(CHROMIUM === undefined)('the hosted pages', () => {
  const hosted = hostedOfFile();
  beforeAll(async () => {
    ({ fixture, chromium, admin, shop } = hosted);
    social = await socialFixture(fixture, ISSUER);
    await social.setUp(admin, {
      auth_methods: ['password', 'google', 'github'],
      password_policy: { min: 10, common: 'refuse' },
      branding: { primary_color: '#0b5fff', support_email: 'help@shop.example' },
    });
  }, STEP_MS);
  afterAll(() => social?.stop());
  describe.each(SIZES)('at a %s', (size, options) => {
    const isGerman = options.locale === 'de-DE';

    it(
      'make an account of an invitation, once, whose owner then signs in',
      async () => {
        const email = `guest.${size}@example.com`;
        const invited = await fixture.as(admin).post('/api/v1/admin/invitations', { email });
        expect(invited.status).toBe(201);
        const { link } = await fixture.mail(email);
        const page = await chromium.open(options);
        await page.goto(link);
        await page.waitForURL(/tenant_id=/);
        await checked(page);
        expect(await page.textContent('main')).toContain(
          isGerman ? 'Mindestens 10' : 'At least 10',
        );
        await page.fill('#display_name', 'Gina Guest');
        await page.fill('#password', COMMON_PASSWORD);
        await page.click('button.main');
        await page.waitForSelector('#alert');
        await checked(page);
        expect(await page.inputValue('#display_name')).toBe('Gina Guest');
        await page.fill('#password', PASSWORD);
        await page.click('button.main');
        await page.waitForSelector(`h1:text("${isGerman ? 'Willkommen' : 'Welcome'}")`);
        await checked(page);
        await page.goto('about:blank');
        await page.goto(link);
        await page.fill('#display_name', 'Gina Guest');
        await page.fill('#password', PASSWORD);
        await page.click('button.main');
        await page.waitForSelector('main:not(:has(form))');
        await checked(page);
        const sign = await opened(options);
        await checked(sign);
        await sign.fill('#email', email);
        await sign.fill('#password', PASSWORD);
        await sign.click('button[value=password]');
        await sign.waitForURL(/callback\?code=/);
      },
      STEP_MS,
    );

    it.each(['google', 'github'] as const)(
      'take whoever comes back from %s',
      async (provider) => {
        knownAt(social, provider, newPerson());
        const page = await opened(options);
        await page.click(`a[href*="/social/${provider}/"]`);
        await page.waitForURL(/callback\?code=/);
      },
      STEP_MS,
    );

    it(
      'say on the page of the sign-in why a provider was no help',
      async () => {
        const { id, email } = newPerson();
        social.github.person = {
          user: { id, login: 'bob', name: 'Bob', avatar_url: null },
          emails: [{ email, primary: true, verified: false }],
        };
        const page = await opened(options);
        await page.click('a[href*="/social/github/"]');
        await page.waitForSelector('#alert');
        await checked(page);
        expect(await page.textContent('#alert')).toContain(isGerman ? 'Anbieter' : 'vouch');
        expect(await page.locator('[aria-invalid]').count()).toBe(0);
      },
      STEP_MS,
    );
  });
});

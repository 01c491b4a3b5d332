/** What a person does at the pages of the account in a real browser: by keyboard, without a script, by passkey. */
import { mkdirSync, readFileSync } from 'node:fs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHROMIUM, hostedOfFile, ISSUER, withAuthenticator } from './chromium-fixture.ts';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { codeOf } from './mfa-fixture.ts';
import { expectFaultless } from './page-checks.ts';

const STEP_UP_MS = 600_000;
/** If set, the folder to which screenshots are written. */
const PICTURES = process.env['PAGE_PICTURES'];

const PHONE = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  locale: 'de-DE',
  colorScheme: 'dark',
} as const;

describe.skipIf(CHROMIUM === undefined)('people 2 the pages of an account', () => {
  const hosted = hostedOfFile();

  async function signedIn(options: BrowserContextOptions, who: Account): Promise<Page> {
    const page = await hosted.chromium.open(options);
    await page.goto(`${ISSUER}/account/sign-in?in=${hosted.admin.tenantId}`);
    await page.fill('#email', who.email);
    await page.fill('#password', PASSWORD);
    await page.click('button[value=password]');
    await page.waitForURL(/\/account$/);
    return page;
  }

  async function picture(page: Page, path: string, size: string): Promise<void> {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    const file = `${path.slice(1)} ${size}`.replaceAll(/[^\w]+/g, '-');
    await page.screenshot({ path: `${PICTURES}/${file}.png`, fullPage: true });
  }

  it('work without a script: the profile changes, by keyboard alone', async () => {
    const { fixture, admin } = hosted;
    const bob = await fixture.registerVerified(admin.tenantId);
    const page = await signedIn({ javaScriptEnabled: false, locale: 'en-US' }, bob);
    await page.goto(`${ISSUER}/account/profile`);
    for (let step = 0; step < 30; step += 1) {
      await page.keyboard.press('Tab');
      if (await page.isVisible('[name=display_name]:focus')) break;
    }
    await page.keyboard.type('Bob Keyboard');
    await page.keyboard.press('Enter');
    await page.waitForURL(/done=profile/);
    const { body } = await fixture.as(bob).get('/api/v1/user/profile');
    expect(body.display_name).toBe('Bob Keyboard');
    await page.goto(`${ISSUER}/account/security`);
    await expectFaultless(page);
    await page.context().close();
  });

  it('have their navigation in one line of a phone, which opens by keyboard and without a script', async () => {
    const { fixture, admin } = hosted;
    const bob = await fixture.registerVerified(admin.tenantId);
    const small = { viewport: { width: 320, height: 640 }, locale: 'de-DE' };
    const page = await signedIn({ ...small, javaScriptEnabled: false }, bob);
    await page.goto(`${ISSUER}/account/security`);
    const heightOf = async () => (await page.locator('nav.pages').boundingBox())?.height ?? 0;
    const ONE_LINE_PX_MAX = 60;
    expect(await heightOf()).toBeLessThanOrEqual(ONE_LINE_PX_MAX);
    expect(await page.isVisible('nav a[href="/account/data"]')).toBe(false);
    await page.focus('nav summary');
    await page.keyboard.press('Enter');
    expect(await page.isVisible('nav a[href="/account/data"]')).toBe(true);
    await page.focus('nav a[href="/account/data"]');
    await page.keyboard.press('Enter');
    await page.waitForURL(/account\/data$/);
    await page.setViewportSize({ width: 1_280, height: 800 });
    expect(await page.isVisible('nav summary')).toBe(false);
    expect(await page.isVisible('nav a[href="/account/profile"]')).toBe(true);
    await page.context().close();
  });

  it('ask for the address before they delete the account, and keep it on a second thought', async () => {
    const { fixture, admin } = hosted;
    const bob = await fixture.registerVerified(admin.tenantId);
    const page = await signedIn(PHONE, bob);
    await page.goto(`${ISSUER}/account/data?form=delete`);
    await page.fill('[name=confirmed_by]', 'somebody@example.com');
    await page.click('main form button.main');
    await page.waitForSelector('[role=alert]');
    await expectFaultless(page);
    await picture(page, '/account/data-wrong', 'phone dark German');
    await page.fill('[name=confirmed_by]', bob.email);
    await page.click('main form button.main');
    await page.waitForURL(/done=delete/);
    await expectFaultless(page);
    await picture(page, '/account/data-waits', 'phone dark German');
    await page.goto(`${ISSUER}/account`);
    await expectFaultless(page);
    await picture(page, '/account-deletion', 'phone dark German');
    await page.click('main a[href="/account/data"]');
    await page.click('form:has([value=keep]) button');
    await page.waitForURL(/done=keep/);
    const { body } = await fixture.as(bob).get('/api/v1/user/deletion');
    expect(body.delete_at).toBeNull();
    await page.context().close();
  });

  it('give a file of what is kept, and show it nowhere', async () => {
    const { fixture, admin } = hosted;
    const bob = await fixture.registerVerified(admin.tenantId);
    const page = await signedIn({ locale: 'en-US' }, bob);
    await page.goto(`${ISSUER}/account/data`);
    const downloading = page.waitForEvent('download');
    await page.click('form:has([value=export]) button');
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('account.json');
    const kept = JSON.parse(readFileSync(await download.path(), 'utf8'));
    expect(kept.profile.email).toBe(bob.email);
    expect(page.url()).toBe(`${ISSUER}/account/data`);
    await page.context().close();
  });

  it('people 8 confirm an old sign-in by a passkey that was added there', async () => {
    const { fixture, admin } = hosted;
    const bob = await fixture.registerVerified(admin.tenantId);
    const page = await signedIn({ locale: 'en-US' }, bob);
    await withAuthenticator(page);
    await page.goto(`${ISSUER}/account/security?form=add_passkey`);
    await page.fill('[name=name]', 'My laptop');
    await page.click('form[data-challenge] button.main');
    await page.waitForURL(/done=add_passkey/);
    expect(await page.textContent('main')).toContain('My laptop');

    fixture.clock.move(STEP_UP_MS);
    await page.click('a[href*="form=remove_passkey"]');
    await page.waitForSelector('button[data-proof]:not([hidden])');
    await expectFaultless(page);
    await picture(page, '/account/proof', 'passkey');
    await page.click('button[data-proof]');
    await page.waitForSelector('text=You cannot sign in by the passkey My laptop any more.');
    await page.click('main form button');
    await page.waitForURL(/done=remove_passkey/);
    expect((await fixture.as(bob).get('/api/v1/me/passkeys')).body.passkeys).toEqual([]);
    await page.context().close();
  });

  it('people 7 show a secret once, and leave it nowhere', async () => {
    const { fixture, admin } = hosted;
    const bob = await fixture.registerVerified(admin.tenantId);
    const page = await signedIn(PHONE, bob);
    await page.goto(`${ISSUER}/account/security?form=enrol_totp`);
    await page.click('main form button');
    await page.waitForSelector('.secret');
    await expectFaultless(page);
    await picture(page, '/account/totp', 'phone dark German');
    const secret = ((await page.textContent('.secret')) ?? '').replaceAll(' ', '');
    expect(page.url()).not.toContain(secret);
    await page.fill('[name=code]', codeOf(secret, fixture.clock.now()));
    await page.click('main form button.main');
    await page.waitForSelector('#codes');
    await expectFaultless(page);
    await picture(page, '/account/codes', 'phone dark German');
    const [code = ''] = ((await page.textContent('#codes li')) ?? '').split('\n');
    await page.reload();
    expect(await page.textContent('body')).not.toContain(code);
    await page.goto(`${ISSUER}/account/security`);
    const left = await page.evaluate<string>(
      'document.documentElement.outerHTML + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)',
    );
    expect(left.includes(secret) || left.includes(code)).toBe(false);
    await page.context().close();
  });
});

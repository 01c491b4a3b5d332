/** The pages of an account in a real browser: how they look at four sizes, by keyboard, without a script, by passkey. */
import { mkdirSync, readFileSync } from 'node:fs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, hostedOfFile, ISSUER, withAuthenticator } from './chromium-fixture.ts';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { codeOf, type Enrolled, nextCode, withTotp } from './mfa-fixture.ts';
import { application, authorized } from './oauth-fixture.ts';
import { expectFaultless, tabOrder } from './page-checks.ts';

const TWO_MINUTES = 120_000;
const STEP_UP_MS = 600_000;
/** If set, the folder to which screenshots are written. */
const PICTURES = process.env['PAGE_PICTURES'];

const PAGES = [
  '/account',
  '/account/profile',
  '/account/email',
  '/account/email?form=change',
  '/account/security',
  '/account/security?form=password',
  '/account/security?form=add_passkey',
  '/account/security?form=renew_codes',
  '/account/sessions',
  '/account/sessions?form=end_others',
  '/account/applications',
  '/account/agents',
  '/account/data',
  '/account/data?form=delete',
];
const PHONE = { hasTouch: true, isMobile: true, locale: 'de-DE', colorScheme: 'dark' } as const;
const SIZES: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone dark German', { ...PHONE, viewport: { width: 360, height: 740 } }],
  ['desktop light English', { viewport: { width: 1_280, height: 900 }, locale: 'en-US' }],
  ['320 px', { viewport: { width: 320, height: 640 }, locale: 'en-US' }],
  // The CSS pixels of a window of 1,280 pixels at 200 %.
  ['200 percent', { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2, locale: 'de-DE' }],
];

describe.skipIf(CHROMIUM === undefined)('people 2 the pages of an account', () => {
  const hosted = hostedOfFile();
  let ann: Enrolled;
  beforeAll(async () => {
    const { fixture, admin } = hosted;
    ann = await withTotp(fixture, await fixture.registerVerified(admin.tenantId));
    const as = fixture.as(ann);
    await as.patch('/api/v1/user/profile', { display_name: 'Ann Example' });
    expect((await as.post('/api/v1/user/email', { email: 'ann.new@example.com' })).status).toBe(
      202,
    );
    const bookshop = await application(fixture, admin, { name: 'Bookshop' });
    const bob = await fixture.register(admin.tenantId);
    await authorized(fixture, { client: bookshop, account: bob });
    const services = [{ service_name: 'warehouse', fields: ['username', 'password'] }];
    const made = await fixture.as(admin).post('/api/v1/agents', { name: 'Deploy Bot', services });
    const agentId = made.body.id;
    const key = await fixture.as(admin).post(`/api/v1/agents/${agentId}/keys`, { name: 'ci' });
    const delegation = { agent_id: agentId, services };
    expect((await as.post('/api/v1/me/delegations', delegation)).status).toBe(201);
    const agent = fixture.rest.as({ tenant: admin.tenantId, bearer: key.body.key });
    const subject_token = ann.access;
    const purpose = 'Report of the week <b>not bold</b>';
    const session = { services, subject_token, purpose };
    expect((await agent.post('/api/v1/agent/sessions', session)).status).toBe(201);
  }, TWO_MINUTES);

  async function signedIn(options: BrowserContextOptions, who: Account = ann): Promise<Page> {
    const page = await hosted.chromium.open(options);
    await page.goto(`${ISSUER}/account/sign-in?in=${hosted.admin.tenantId}`);
    await page.fill('#email', who.email);
    await page.fill('#password', PASSWORD);
    await page.click('button[value=password]');
    if (who === ann) {
      await page.waitForSelector('[name=code]');
      await page.fill('[name=code]', nextCode(hosted.fixture, ann.secret));
      await page.click('button.main');
    }
    await page.waitForURL(/\/account$/);
    return page;
  }

  it.each(SIZES)(
    '%s: nothing is wrong with them, nothing foreign is loaded, nothing reported',
    async (name, options) => {
      const page = await signedIn(options);
      const reports: string[] = [];
      page.on('console', (message) => {
        if (/Content Security Policy|Refused/.test(message.text())) reports.push(message.text());
      });
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== new URL(ISSUER).origin) reports.push(request.url());
      });
      for (const path of PAGES) {
        await page.goto(ISSUER + path);
        await expectFaultless(page);
        const tops = await tabOrder(page);
        expect(tops.length, path).toBeGreaterThan(2);
        await picture(page, path, name);
      }
      expect(reports).toEqual([]);
      await page.context().close();
    },
    TWO_MINUTES,
  );

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

  it('ask for the address before they delete the account, and keep it on a second thought', async () => {
    const { fixture, admin } = hosted;
    const bob = await fixture.registerVerified(admin.tenantId);
    const page = await signedIn({ ...PHONE, viewport: { width: 360, height: 740 } }, bob);
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
    await page.click('a[href="/account/data"]');
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
    const page = await signedIn({ ...PHONE, viewport: { width: 360, height: 740 } }, bob);
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

import { describe, expect, it } from 'vitest';
import { CHROMIUM, hostedOfFile, signInUrl } from './chromium-fixture.ts';
import { expectFaultless, submit } from './page-checks.ts';

const STEP_MS = 120_000;
const PHONE = { viewport: { width: 390, height: 844 } };
const DESK = { viewport: { width: 1280, height: 800 } };

describe.skipIf(CHROMIUM === undefined)('the hosted sign-in in Chromium', () => {
  const hosted = hostedOfFile();

  it(
    'people 12 mails a new password to whoever has forgotten it, and goes on where it was',
    async () => {
      const eva = await hosted.fixture.register(hosted.admin.tenantId, 'eva');
      const page = await hosted.chromium.open({ ...PHONE, javaScriptEnabled: false });
      await page.goto(signInUrl(hosted.shop, { ui_locales: 'de' }));
      await page.click('button:text("Passwort vergessen?")');
      await page.waitForSelector('form[action$="/forgot-password"] #email');
      await expectFaultless(page);
      await page.fill('#email', 'eva@');
      await page.locator('form[action$="/forgot-password"]').evaluate((form) => {
        (form as unknown as { noValidate: boolean }).noValidate = true;
      });
      await submit(page, 'forgot-password');
      expect(await page.textContent('[role=alert]')).toContain('E-Mail');
      await page.fill('#email', eva.email);
      await submit(page, 'forgot-password');
      await page.waitForSelector(`p:has-text("${eva.email}")`);
      await expectFaultless(page);
      const { link } = await hosted.fixture.mail(eva.email, /neues Passwort/i);
      const other = await hosted.chromium.open(DESK);
      await other.goto(link);
      await other.waitForURL(/tenant_id=/);
      await other.fill('#new_password', 'a password that eva keeps');
      await other.click('button.main');
      await other.waitForSelector('h1:text("Your new password is set")');
      await page.click('button:text("Zurück zur Anmeldung")');
      await page.fill('#email', eva.email);
      await page.fill('#password', 'a password that eva keeps');
      await page.click('button[value=password]');
      await page.waitForURL(/callback\?code=/);
    },
    STEP_MS,
  );
});

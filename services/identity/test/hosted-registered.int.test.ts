import { describe, expect, it } from 'vitest';
import { CHROMIUM, hostedOfFile, signInUrl } from './chromium-fixture.ts';
import { PASSWORD } from './identity-fixture.ts';
import { expectFaultless, submit } from './page-checks.ts';

const STEP_MS = 120_000;
const PHONE = { viewport: { width: 320, height: 640 } };
const DESK = { viewport: { width: 1280, height: 800 } };

describe.skipIf(CHROMIUM === undefined)('the hosted registration in Chromium', () => {
  const hosted = hostedOfFile();

  it(
    'people 12 leads from the sign-in to a new account, without script, in German, by the code',
    async () => {
      const page = await hosted.chromium.open({
        ...PHONE,
        javaScriptEnabled: false,
        colorScheme: 'dark',
      });
      await page.goto(signInUrl(hosted.shop, { ui_locales: 'de' }));
      await page.click('button:text("Konto anlegen")');
      await expectFaultless(page);
      await page.fill('#email', 'nora@example.com');
      await page.locator('form[action$="/register"]').evaluate((form) => {
        (form as unknown as { noValidate: boolean }).noValidate = true;
      });
      await submit(page, 'register');
      expect(await page.textContent('[role=alert]')).toContain('zu kurz');
      expect(await page.inputValue('#email')).toBe('nora@example.com');
      await expectFaultless(page);
      await page.fill('#password', PASSWORD);
      await submit(page, 'register');
      await page.waitForSelector('text=Eine E-Mail an nora@example.com ist unterwegs');
      await expectFaultless(page);
      const { text, subject } = await hosted.fixture.mail('nora@example.com');
      expect(subject).toBe('Bestätigen Sie Ihre E-Mail-Adresse');
      await page.fill('#code', /sonst niemandem: (\S+)/.exec(text)?.[1] ?? '');
      await submit(page, 'verify-email');
      await page.waitForURL(/callback\?code=/);
    },
    STEP_MS,
  );

  it(
    'people 12 goes on in the tab of the mailed link, and elsewhere proves the address',
    async () => {
      const page = await hosted.chromium.open(DESK);
      await page.goto(signInUrl(hosted.shop, { prompt: 'create', login_hint: 'olga@example.com' }));
      expect(await page.inputValue('#email')).toBe('olga@example.com');
      await page.fill('#password', PASSWORD);
      await submit(page, 'register');
      await page.waitForSelector('h1:text("Look into your mail")');
      const { link } = await hosted.fixture.mail('olga@example.com');
      const elsewhere = await hosted.chromium.open(DESK);
      await elsewhere.goto(link);
      await elsewhere.waitForSelector('#password');
      expect(new URL(elsewhere.url()).pathname).toBe('/api/v1/auth/verify-email');
      expect(await elsewhere.textContent('main')).toContain('registered in another browser');
      await expectFaultless(elsewhere);
      expect(await elsewhere.locator('#token').isHidden()).toBe(true);
      const tab = await page.context().newPage();
      await tab.goto(link);
      await expectFaultless(tab);
      await submit(tab, 'verify-email');
      await tab.waitForURL(/callback\?code=/);
    },
    STEP_MS,
  );

  it(
    'people 12 shows a password at the press of a button, and hides it before it is sent',
    async () => {
      const page = await hosted.chromium.open(PHONE);
      const reports: string[] = [];
      page.on('console', (message) => reports.push(message.text()));
      await page.goto(signInUrl(hosted.shop));
      const typeOf = () => page.getAttribute('#password', 'type');
      await page.fill('#email', hosted.admin.email);
      await page.fill('#password', PASSWORD);
      await page.click('button:text("Show password")');
      expect(await typeOf()).toBe('text');
      await expectFaultless(page);
      await page.click('button:text("Hide password")');
      expect(await typeOf()).toBe('password');
      await page.click('button:text("Show password")');
      // By then every posted value is a password again.
      await page.locator('form:has(#password)').evaluate((form) => {
        (form as unknown as EventTarget).addEventListener('submit', (event) => {
          event.preventDefault();
        });
      });
      await page.click('button[value=password]');
      expect(await typeOf()).toBe('password');
      expect(reports).toEqual([]);
      const without = await hosted.chromium.open({ ...PHONE, javaScriptEnabled: false });
      await without.goto(signInUrl(hosted.shop, { prompt: 'create' }));
      expect(await without.locator('button[data-reveals]').isHidden()).toBe(true);
    },
    STEP_MS,
  );
});

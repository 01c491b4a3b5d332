import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHROMIUM, hostedOfFile, ISSUER, signInUrl } from './chromium-fixture.ts';
import { PASSWORD } from './identity-fixture.ts';
import { expectFaultless, submit } from './page-checks.ts';

const STEP_MS = 120_000;
const PHONE = {
  viewport: { width: 320, height: 640 },
  colorScheme: 'dark',
  locale: 'de-DE',
} as const;
const DESK = { viewport: { width: 1280, height: 800 }, locale: 'en-GB' };
const CODE = /sonst niemandem: (\S+)/;
const DAY_S = 24 * 3_600;

describe.skipIf(CHROMIUM === undefined)('what is mailed from the hosted pages, in Chromium', () => {
  const hosted = hostedOfFile();

  const heading = (page: Page) => page.textContent('h1');
  const arrived = (page: Page) => page.waitForURL(/callback\?code=/);
  /** The remaining lifetime of the flow's cookie. */
  const keptSeconds = async (page: Page) => {
    const cookies = await page.context().cookies(page.url());
    const { expires = 0 } = cookies.find(({ name }) => name === 'cardea_interaction') ?? {};
    return expires - Date.now() / 1_000;
  };

  it(
    'people 12 a link to sign in: in another browser it says where to type the code, and leads to the application',
    async () => {
      const fred = await hosted.fixture.register(hosted.admin.tenantId, 'fred');
      const phone = await hosted.chromium.open({ ...PHONE, javaScriptEnabled: false });
      await phone.goto(signInUrl(hosted.shop, { ui_locales: 'de' }));
      expect(await keptSeconds(phone)).toBeLessThan(11 * 60);
      await phone.fill('#email', fred.email);
      await phone.click('button[value=magic_link]');
      await phone.waitForSelector('#code');
      await expectFaultless(phone);
      // The flow is kept as long as the link works, plus some minutes.
      expect(await keptSeconds(phone)).toBeGreaterThan(24 * 60);
      const { link, text } = await hosted.fixture.mail(fred.email, /Anmelden/);
      const desk = await hosted.chromium.open(DESK);
      await desk.goto(link);
      await expectFaultless(desk);
      expect(await heading(desk)).toBe('Go on in the other browser');
      expect(await desk.textContent('main')).toContain('Type the code from the mail');
      expect(await desk.getAttribute('a.button', 'href')).toBe('http://127.0.0.1:65529/');
      await phone.fill('#code', 'AAAA-AAAA');
      await submit(phone, 'login');
      expect(await phone.textContent('[role=alert]')).toContain('Code');
      await expectFaultless(phone);
      await phone.fill('#code', (CODE.exec(text)?.[1] ?? '').toLowerCase());
      await submit(phone, 'login');
      await arrived(phone);
      // The code has consumed the link.
      await phone.goto(link);
      expect(await heading(phone)).toBe('Dieser Link wurde schon benutzt');
      await expectFaultless(phone);
      await desk.reload();
      expect(await heading(desk)).toBe('This link does not work any more');
      expect(await desk.textContent('main')).toContain('It was used before');
      // The tenant is not known here, so our own pages ask for it, unless there is only one.
      const href = (await desk.getAttribute('a.button.main', 'href')) ?? '';
      expect(href).toBe(`${ISSUER}/account/sign-in?return_to=`);
      await desk.click('a.button.main');
      await desk.waitForSelector('#email, [name=in]');
      await expectFaultless(desk);
    },
    STEP_MS,
  );

  it(
    'people 12 a link to sign in, used twice in the browser that asked for it, says so',
    async () => {
      const gina = await hosted.fixture.register(hosted.admin.tenantId, 'gina');
      const page = await hosted.chromium.open(DESK);
      await page.goto(signInUrl(hosted.shop));
      await page.fill('#email', gina.email);
      await page.click('button[value=magic_link]');
      await page.waitForSelector('#code');
      const { link } = await hosted.fixture.mail(gina.email, /^sign in$/i);
      const [one, other] = [await page.context().newPage(), await page.context().newPage()];
      for (const tab of [one, other]) await tab.goto(link);
      await submit(one, 'login');
      await arrived(one);
      await submit(other, 'login');
      expect(await heading(other)).toBe('This link was used before');
      expect(await other.textContent('a.button.main')).toBe('Continue to Shop');
      await expectFaultless(other);
      await page.context().clearCookies({ name: 'cardea_session' });
      // A flow that is still pending shows that its mailed link was used.
      await page.goto(signInUrl(hosted.shop));
      await page.goto(`${page.url()}/link${new URL(link).hash}`);
      await submit(page, 'login');
      expect(await page.textContent('[role=alert]')).toContain('was used before');
      await expectFaultless(page);
    },
    STEP_MS,
  );

  it(
    'people 12 a registration: it waits as long as its link, and every page leads on',
    async () => {
      const page = await hosted.chromium.open(PHONE);
      await page.goto(signInUrl(hosted.shop, { prompt: 'create', ui_locales: 'de' }));
      await page.fill('#email', 'hanna@example.com');
      await page.fill('#password', PASSWORD);
      await submit(page, 'register');
      await page.waitForSelector('#code');
      expect(await keptSeconds(page)).toBeGreaterThan(DAY_S);
      const { link, text } = await hosted.fixture.mail('hanna@example.com');
      const desk = await hosted.chromium.open(DESK);
      await desk.goto(link);
      await desk.waitForURL(/tenant_id=/);
      await expectFaultless(desk);
      expect(await desk.textContent('main')).toContain('type the code from the mail');
      await desk.fill('#password', PASSWORD);
      await desk.click('button.main');
      await desk.waitForSelector('h1:text("Your address is confirmed")');
      await expectFaultless(desk);
      expect(await desk.textContent('a.button.main')).toBe('Continue to Shop');
      await desk.goto('about:blank');
      await desk.goto(link);
      await desk.waitForURL(/tenant_id=/);
      await desk.fill('#password', PASSWORD);
      await desk.click('button.main');
      await desk.waitForSelector('h1:text("This link was used before")');
      await expectFaultless(desk);
      expect(await desk.textContent('main')).toContain('Your address is confirmed already');
      await page.fill('#code', CODE.exec(text)?.[1] ?? '');
      await submit(page, 'verify-email');
      expect(await page.textContent('[role=alert]')).toContain('schon benutzt');
      await expectFaultless(page);
      // The waiting page lets the person sign in with the password that they chose.
      await page.click('form[action$="/restart"] button');
      await page.fill('#email', 'hanna@example.com');
      await page.fill('#password', PASSWORD);
      await page.click('button[value=password]');
      await arrived(page);
    },
    STEP_MS,
  );

  it(
    'people 12 invitations, new passwords and sign-outs lead on to the application, and say so of used links',
    async () => {
      const { fixture, admin } = hosted;
      const path = '/api/v1/admin/invitations';
      const invited = await fixture
        .as(admin)
        .post(path, { email: 'ina@example.com', roles: ['member'] });
      expect(invited.status, invited.text).toBe(201);
      const { link } = await fixture.mail('ina@example.com');
      const page = await hosted.chromium.open(PHONE);
      for (const title of ['Willkommen', 'Dieser Link wurde schon benutzt']) {
        await page.goto('about:blank');
        await page.goto(link);
        await page.waitForURL(/tenant_id=/);
        await page.fill('#display_name', 'Ina');
        await page.fill('#password', PASSWORD);
        await page.click('button.main');
        await page.waitForSelector(`h1:text("${title}")`);
        await expectFaultless(page);
        expect(await page.getAttribute('a.button.main', 'href')).toBe('http://127.0.0.1:65529/');
      }
      const forgotten = { email: 'ina@example.com' };
      await fixture.rest.post('/api/v1/auth/forgot-password', forgotten, {
        tenant: admin.tenantId,
      });
      const reset = await fixture.mail('ina@example.com', /new password|neues Passwort/i);
      fixture.clock.move(61 * 60_000);
      await page.goto(reset.link);
      await page.waitForURL(/tenant_id=/);
      await page.fill('#new_password', 'a wholly new password');
      await page.click('button.main');
      await page.waitForSelector('h1:text("Dieser Link ist abgelaufen")');
      await expectFaultless(page);
      await page.goto(`${ISSUER}/oauth2/session/end?client_id=${hosted.shop.client_id}`);
      await page.waitForSelector('h1:text("Sie sind abgemeldet")');
      await expectFaultless(page);
      expect(await page.textContent('a.button.main')).toBe('Weiter zu Shop');
    },
    STEP_MS,
  );
});

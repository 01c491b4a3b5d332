import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, hostedOfFile, signInUrl, withAuthenticator } from './chromium-fixture.ts';
import { PASSWORD } from './identity-fixture.ts';
import { expectFaultless, submit } from './page-checks.ts';

const STEP_MS = 120_000;
const PHONE = { viewport: { width: 320, height: 640 } };

/** Simulates a person who does not choose what the browser offers. While that request waits, no other may be made. */
const PICKED_BY_NOBODY = `
  const get = navigator.credentials.get.bind(navigator.credentials);
  window.offers = [];
  navigator.credentials.get = (options) => {
    if (options.mediation !== 'conditional') {
      return window.offers.includes('ended') ? get(options) : Promise.reject(new Error('pending'));
    }
    window.offers.push('waits');
    return new Promise((_picked, ended) => {
      options.signal.addEventListener('abort', () => {
        window.offers.push('ended');
        ended(options.signal.reason);
      });
    });
  };
`;

describe.skipIf(CHROMIUM === undefined)('passkeys at the hosted pages in Chromium', () => {
  const hosted = hostedOfFile();
  beforeAll(async () => {
    const path = `/api/v1/admin/tenants/${hosted.admin.tenantId}`;
    const settings = { mfa_policy: 'required' };
    const answer = await hosted.fixture.as(hosted.admin).patch(path, { settings });
    expect(answer.status, answer.text).toBe(200);
  }, STEP_MS);

  /** A person whose only second factor is a passkey of this page. Stops at the recovery codes. */
  async function withPasskey(page: Page, name: string) {
    const person = await hosted.fixture.register(hosted.admin.tenantId, name);
    await withAuthenticator(page);
    await page.goto(signInUrl(hosted.shop));
    await page.fill('#email', person.email);
    await page.fill('#password', PASSWORD);
    await page.click('button[value=password]');
    await submit(page, 'mfa');
    await page.waitForSelector('ul.codes');
    return person;
  }
  const codesOf = async (page: Page) => page.locator('ul.codes li').allTextContents();
  const goOn = async (page: Page) => {
    await page.click('a.button.main');
    await page.waitForURL(/callback\?code=/);
    await page.context().clearCookies();
  };

  it(
    'people 12 are offered at the field for the address, and their button still works',
    async () => {
      const page = await hosted.chromium.open(PHONE);
      await withPasskey(page, 'nina');
      await goOn(page);
      const challenges: string[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/challenge')) challenges.push(request.url());
      });
      await page.goto(signInUrl(hosted.shop));
      await page.waitForURL(/callback\?code=/);
      expect(challenges).toHaveLength(1);
      await page.context().clearCookies();
      await page.addInitScript(PICKED_BY_NOBODY);
      await page.goto(signInUrl(hosted.shop));
      await expect.poll(() => page.evaluate('window.offers')).toEqual(['waits']);
      await expectFaultless(page);
      await page.click('form[data-challenge] button');
      await page.waitForURL(/callback\?code=/);
      expect(challenges).toHaveLength(3);
    },
    STEP_MS,
  );

  it(
    'people 12 come with recovery codes to copy, download and print, which sign in without the passkey',
    async () => {
      const page = await hosted.chromium.open({ ...PHONE, colorScheme: 'dark', locale: 'de-DE' });
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const person = await withPasskey(page, 'otto');
      await expectFaultless(page);
      const codes = await codesOf(page);
      expect(codes).toHaveLength(10);
      await page.click('button:text("Kopieren")');
      await page.waitForSelector('text=Kopiert.');
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(copied.split(/\s+/)).toEqual(codes);
      const download = page.waitForEvent('download');
      await page.click('button:text("Speichern")');
      const file = await download;
      expect(file.suggestedFilename()).toBe('wiederherstellungscodes.txt');
      const chunks: Buffer[] = [];
      for await (const chunk of await file.createReadStream()) chunks.push(Buffer.from(chunk));
      expect(Buffer.concat(chunks).toString().trim().split(/\s+/)).toEqual(codes);
      await page.evaluate('window.print = () => { window.printed = true; }');
      await page.click('button:text("Drucken")');
      expect(await page.evaluate('window.printed')).toBe(true);
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('.saves').isVisible()).toBe(false);
      expect(await page.locator('ul.codes').isVisible()).toBe(true);
      await page.emulateMedia({ media: 'screen' });
      await goOn(page);
      const lost = await hosted.chromium.open({ ...PHONE, javaScriptEnabled: false });
      await lost.goto(signInUrl(hosted.shop));
      await lost.fill('#email', person.email);
      await lost.fill('#password', PASSWORD);
      await lost.click('button[value=password]');
      await lost.click('summary');
      await lost.fill('#recovery-code', codes[0] ?? '');
      await lost.click('details button');
      await lost.waitForURL(/callback\?code=/);
    },
    STEP_MS,
  );

  it(
    'people 12 are left out of a page whose browser knows none',
    async () => {
      const page = await hosted.chromium.open(PHONE);
      await page.addInitScript('delete window.PublicKeyCredential');
      await page.goto(signInUrl(hosted.shop));
      expect(await page.locator('form[data-challenge]').isHidden()).toBe(true);
      await expectFaultless(page);
    },
    STEP_MS,
  );
});

import { describe, expect, it } from 'vitest';
import { CHROMIUM, hostedOfFile, PLAIN_ISSUER, signInUrl } from './chromium-fixture.ts';
import { PASSWORD } from './identity-fixture.ts';
import { submit } from './page-checks.ts';

const STEP_MS = 120_000;

describe.skipIf(CHROMIUM === undefined)('the hosted pages over plain HTTP by a name', () => {
  const hosted = hostedOfFile(PLAIN_ISSUER);

  it(
    'people 12 takes its own forms, of which a browser says nothing but the origin',
    async () => {
      const page = await hosted.chromium.open();
      const posted: { readonly origin: string; readonly site: string }[] = [];
      page.on('request', async (request) => {
        if (request.method() !== 'POST') return;
        const { origin = '', 'sec-fetch-site': site = '' } = await request.allHeaders();
        posted.push({ origin, site });
      });
      await page.goto(signInUrl(hosted.shop, {}, PLAIN_ISSUER));
      await page.fill('#email', hosted.admin.email);
      await page.fill('#password', PASSWORD);
      await page.click('button[value=password]');
      await page.waitForURL(/callback\?code=/);
      expect(posted).toEqual([{ origin: PLAIN_ISSUER, site: '' }]);
    },
    STEP_MS,
  );

  it(
    'people 12 takes the form of a mailed link',
    async () => {
      const { fixture, admin, chromium } = hosted;
      const eva = await fixture.register(admin.tenantId, 'eva');
      const { link } = await fixture.mail(eva.email, /confirm/i);
      const page = await chromium.open();
      await page.goto(link);
      await page.waitForURL(/tenant_id=/);
      await page.fill('#password', PASSWORD);
      await submit(page, 'verify-email');
      await page.waitForSelector('h1:text("Your address is confirmed")');
    },
    STEP_MS,
  );
});

/** Each page of the catalogue in a real browser: at four sizes, with and without something on it. */
import { mkdirSync } from 'node:fs';
import { catalogue } from '@cardea/http';
import { processFixture, testDatabase, testForm } from '@cardea/testing';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { product } from '../../scripts/gateway/files.ts';
import {
  CALLBACK,
  CHROMIUM,
  type ChromiumFixture,
  chromiumFixture,
  ISSUER,
  signInUrl,
} from '../../services/identity/test/chromium-fixture.ts';
import { expectFaultless, submit, tabOrder } from '../../services/identity/test/page-checks.ts';
import { type Instance, instance } from '../faults/instance.ts';
import { NOT_VISITED, type Visit, visitsOf } from './every-page-visits.ts';
import { ANN, BOB, everyPageWorld, type LaterWorld, withSecondFactor } from './every-page-world.ts';

const SIZE_MS_MAX = 300_000;
/** If set, the folder to which screenshots are written. */
const PICTURES = process.env['PAGE_PICTURES'];

const PHONE = { hasTouch: true, isMobile: true, locale: 'de-DE', colorScheme: 'dark' } as const;
const ALL_SIZES: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone dark German', { ...PHONE, viewport: { width: 390, height: 844 } }],
  ['desktop light English', { viewport: { width: 1_280, height: 900 }, locale: 'en-US' }],
  ['320 px', { viewport: { width: 320, height: 640 }, locale: 'en-US' }],
  // The CSS pixels of a window of 1,280 pixels at 200 %.
  ['200 percent', { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2, locale: 'de-DE' }],
];
/** The short form plays the dark size and the narrowest one, and uses them in turn for the pages. */
const SIZES = ALL_SIZES.filter((_, at) => testForm.long || at % 2 === 0).map(
  ([size, options], turn) => ({ size, options, turn }),
);
const isPlayed = (turn: number, visit: number): boolean =>
  testForm.long || visit % SIZES.length === turn;

type Pages = { readonly [who in Visit['who']]: Page };

describe.skipIf(CHROMIUM === undefined)('people 2 each page of the catalogue', () => {
  const database = testDatabase();
  const processes = processFixture();
  let cardea: Instance;
  let chromium: ChromiumFixture;
  let world: LaterWorld;
  let sizesSeen = 0;
  beforeAll(async () => {
    cardea = await instance(processes, { DATABASE_URL: database.url, PUBLIC_URL: ISSUER, ISSUER });
    await cardea.start();
    chromium = await chromiumFixture(cardea.base);
    const before = await everyPageWorld(cardea, CALLBACK);
    const page = await signedIn({}, { ...ANN, tenant: before.tenant });
    await page.waitForURL(/\/account$/);
    await page.goto(signInUrl(before.client));
    await submit(page, 'consent');
    await page.waitForURL(/callback\?code=/);
    await page.context().close();
    world = await withSecondFactor(before);
  });
  afterAll(() => chromium?.stop());

  async function signedIn(
    options: BrowserContextOptions,
    { email, password, tenant }: typeof BOB & { readonly tenant: string },
  ): Promise<Page> {
    const page = await chromium.open(options);
    await page.goto(`${ISSUER}/account/sign-in?in=${tenant}`);
    await page.fill('#email', email);
    await page.fill('#password', password);
    await page.click('button[value=password]');
    return page;
  }

  /** Each sign-in of Ann uses one of her recovery codes up. */
  async function pagesAt(options: BrowserContextOptions): Promise<Pages> {
    const { tenant, recoveryCodes } = world;
    const ann = await signedIn(options, { ...ANN, tenant });
    await ann.click('summary');
    await ann.fill('#recovery-code', recoveryCodes[sizesSeen] ?? '');
    sizesSeen += 1;
    await ann.click('details button');
    const bob = await signedIn(options, { ...BOB, tenant });
    for (const page of [ann, bob]) await page.waitForURL(/\/account$/);
    return { ann, bob, nobody: await chromium.open(options) };
  }

  it('is visited, or not for a reason', async () => {
    const { services } = await product();
    const pages = catalogue(services.flatMap(({ endpoints }) => endpoints))
      .map(({ contract }) => contract)
      .filter(
        ({ audience, response }) => audience === 'page' || response?.mediaType === 'text/html',
      )
      .filter(({ method }) => method === 'get')
      .map(({ path }) => path);
    const known = [...Object.keys(visitsOf(world)), ...Object.keys(NOT_VISITED)];
    expect(known.toSorted()).toEqual(pages.toSorted());
  });

  it.each(SIZES)(
    '$size: nothing is wrong with it, nothing foreign is loaded, nothing reported',
    async ({ size, options, turn }) => {
      const pages = await pagesAt(options);
      const reports = Object.values(pages).map(reportsOf);
      let number = 0;
      for (const [path, visits] of Object.entries(visitsOf(world))) {
        for (const [at, visit] of visits.entries()) {
          number += 1;
          if (!isPlayed(turn, number)) continue;
          const page = pages[visit.who];
          await open(page, visit);
          await picture(page, `${path} ${at} ${size}`);
          await expectFaultless(page);
          expect((await tabOrder(page)).length, visit.at).toBeGreaterThan(0);
        }
      }
      expect(reports.flat()).toEqual([]);
      for (const page of Object.values(pages)) await page.context().close();
    },
    SIZE_MS_MAX,
  );
});

async function open(page: Page, { at, status = 200, first }: Visit): Promise<void> {
  const answer = await page.goto(new URL(at, ISSUER).href);
  expect(answer?.status(), at).toBe(status);
  // A script replaces links to parts of other pages by these parts.
  await page.waitForSelector('a[data-part]', { state: 'detached' });
  await first?.(page);
}

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  const file = name.slice(1).replaceAll(/[^\w]+/g, '-');
  await page.screenshot({ path: `${PICTURES}/${file}.png`, fullPage: true });
}

/** Collects violations of a page's policy, and what is loaded from elsewhere. The list grows with the visits. */
function reportsOf(page: Page): readonly string[] {
  const reports: string[] = [];
  page.on('console', (message) => {
    if (/Content Security Policy|Refused/.test(message.text())) reports.push(message.text());
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(ISSUER).origin) reports.push(request.url());
  });
  return reports;
}

/** A person decides at the page that the mail leads to, in a browser as small as a phone. */
import { processFixture, type RestDriver, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AskingAgent,
  askingAgent,
  bodyOf,
  type WaitingRequest,
} from '../../scripts/pictures/asking-agent.ts';
import {
  CHROMIUM,
  type ChromiumFixture,
  chromiumFixture,
} from '../../services/identity/test/chromium-fixture.ts';
import { type Instance, instance } from '../faults/instance.ts';

const database = testDatabase();
const processes = processFixture();
const ADA = { email: 'ada@example.com', password: 'a long password of Ada' };
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const SECRET = 'correct horse';

let cardea: Instance;
let admin: RestDriver;
let tenant = '';
let reporter: AskingAgent;
let browser: ChromiumFixture | undefined;

type Page = Awaited<ReturnType<ChromiumFixture['open']>>;

beforeAll(async () => {
  cardea = await instance(processes, { DATABASE_URL: database.url });
  await cardea.start();
  const credentials = await cardea.admin();
  tenant = credentials.tenant;
  admin = cardea.rest.as(credentials);
  reporter = await prepare();
  if (CHROMIUM !== undefined) browser = await chromiumFixture(cardea.base);
});
afterAll(() => browser?.stop());

/** A service with one secret, a policy that requires Ada to compare a number, and an agent of hers. */
const prepare = (): Promise<AskingAgent> =>
  askingAgent(admin, {
    service: 'warehouse',
    values: { password: SECRET },
    agent: 'reporter',
    person: ADA,
  });

/** Each request has a purpose of its own, because requests with the same purpose would be joined. */
const waits = (): Promise<WaitingRequest> => reporter.asks(`Report ${performance.now()}`);

/** The link of the newest mail about a request. */
async function mailedLink(id: string): Promise<string> {
  let link: string | undefined;
  await untilTrue(
    async () => {
      const answer = await fetch(`${cardea.base}/dev/mailbox`);
      link = new RegExp(`http://[^\\s"<>\\\\]*/approve/${id}[^\\s"<>\\\\]*`).exec(
        await answer.text(),
      )?.[0];
      return link !== undefined;
    },
    { what: 'the mail has come' },
  );
  return (link ?? '').replaceAll('&amp;', '&');
}

async function signedIn(page: Page): Promise<void> {
  await page.fill('#email', ADA.email);
  await page.fill('#password', ADA.password);
  await page.click('button[value=password]');
  await page.waitForURL(/\/approve/);
}

async function opened(options: Parameters<ChromiumFixture['open']>[0]): Promise<Page> {
  if (browser === undefined) throw new Error('there is no browser');
  return browser.open(options);
}
const phone = (): Promise<Page> => opened({ ...PHONE, locale: 'de-DE', colorScheme: 'dark' });

describe.skipIf(CHROMIUM === undefined)('people 3 a decision on a phone', () => {
  it('goes from the mail by sign-in and number to the secret, and is in the audit log', async () => {
    const { id, code, vend } = await waits();
    const page = await phone();
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).port !== new URL(cardea.base).port) foreign.push(request.url());
    });
    await page.goto(await mailedLink(id));
    await signedIn(page);
    const text = (await page.textContent('main')) ?? '';
    expect(text).toContain('reporter bittet um Ihre Entscheidung');
    expect(text).toContain('warehouse');
    expect(text).not.toContain(code);
    expect(await sideScroll(page)).toBe(0);

    await page.fill('[name=binding_code]', code === '0000' ? '1111' : '0000');
    await page.click('section[aria-labelledby=approve] button');
    await page.waitForSelector('#alert');
    await page.fill('[name=binding_code]', code);
    await page.click('section[aria-labelledby=approve] button');
    await page.waitForSelector('.tag.good');
    const { data } = await bodyOf(vend());
    expect(data.fields.password).toBe(SECRET);
    expect(foreign).toEqual([]);

    const rows = `/api/v1/audit/events?type=ciba.approved&target_id=${id}`;
    await untilTrue(async () => (await admin.get(rows)).body.events.length === 1);
    expect((await admin.get(rows)).body.events[0]).toMatchObject({ actor_id: reporter.person.id });
    await page.context().close();
  });

  it('is shown within a moment where it was decided elsewhere', async () => {
    const { id } = await waits();
    const page = await phone();
    await page.goto(await mailedLink(id));
    await signedIn(page);
    await page.waitForSelector('[data-left-ms]');
    const as = cardea.rest.as({ tenant, bearer: reporter.person.token });
    await bodyOf(as.post(`/api/v1/ciba/requests/${id}/deny`));
    await page.waitForSelector('.tag.bad', { timeout: 10_000 });
    await page.context().close();
  });

  it('works without a script, and by the keyboard alone', async () => {
    const { id, code, vend } = await waits();
    const page = await opened({ javaScriptEnabled: false });
    await page.goto(await mailedLink(id));
    await page.fill('#email', ADA.email);
    await page.fill('#password', ADA.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/approve/);
    for (let step = 0; step < 20; step += 1) {
      await page.keyboard.press('Tab');
      if (await page.isVisible('[name=binding_code]:focus')) break;
    }
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.tag.good');
    expect((await vend()).status).toBe(200);
    await page.context().close();
  });
});

/** How far the page is wider than the window. */
const sideScroll = (page: Page): Promise<number> =>
  page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  ) as Promise<number>;

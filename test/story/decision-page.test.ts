/** A person decides at the page that the mail leads to, in a browser as small as a phone. */
import { processFixture, type RestDriver, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
const FIELDS = ['password'];

let cardea: Instance;
let admin: RestDriver;
let tenant = '';
let ada = { id: '', token: '' };
let agent: { readonly call: (path: string, body: object, more?: object) => Promise<Answer> };
let browser: ChromiumFixture | undefined;

type Page = Awaited<ReturnType<ChromiumFixture['open']>>;
type Answer = Awaited<ReturnType<RestDriver['post']>>;

beforeAll(async () => {
  cardea = await instance(processes, { DATABASE_URL: database.url });
  await cardea.start();
  const credentials = await cardea.admin();
  tenant = credentials.tenant;
  admin = cardea.rest.as(credentials);
  await prepare();
  if (CHROMIUM !== undefined) browser = await chromiumFixture(cardea.base);
});
afterAll(() => browser?.stop());

/** A service with one secret, a policy that asks Ada with a number to compare, and an agent of hers. */
async function prepare(): Promise<void> {
  const service = { name: 'warehouse', credential_type: 'static', fields: [{ name: 'password' }] };
  await made(admin.post('/api/v1/vault/services', service));
  const secrets = { fields: { password: SECRET } };
  await made(admin.put('/api/v1/vault/services/warehouse/secrets', secrets));
  await made(
    admin.post('/api/v1/vault/approval-policies', {
      name: 'Ask first',
      service_name: 'warehouse',
      fields: '*',
      agent_ids: '*',
      effect: 'require_approval',
      number_match: true,
    }),
  );
  const { id } = await made(admin.post('/api/v1/admin/users', { ...ADA, email_verified: true }));
  await made(admin.patch(`/api/v1/admin/users/${id}`, { vouched: true }));
  const login = await made(cardea.rest.as({ tenant }).post('/api/v1/auth/login', ADA));
  ada = { id, token: login.access_token };
  const services = [{ service_name: 'warehouse', fields: FIELDS }];
  const bot = await made(admin.post('/api/v1/agents', { name: 'reporter', services }));
  const { key } = await made(admin.post(`/api/v1/agents/${bot.id}/keys`, { name: 'ci' }));
  const asAgent = cardea.rest.as({ tenant, bearer: key });
  agent = {
    call: (path, body, headers = {}) => asAgent.post(path, body, { headers: { ...headers } }),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: as in the REST driver, tests reach into bodies.
async function made(asked: Promise<Answer>): Promise<any> {
  const answer = await asked;
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

/** The agent asks for the secret and has to wait. */
async function waits() {
  const { data: session } = await made(
    agent.call('/api/v1/agent/sessions', {
      services: [{ service_name: 'warehouse', fields: FIELDS }],
      subject_token: ada.token,
      purpose: `Report ${performance.now()}`,
    }),
  );
  const vend = (more: object = {}) =>
    agent.call(
      `/api/v1/agent/sessions/${session.id}/credentials`,
      { service_name: 'warehouse', fields: FIELDS, ...more },
      { 'x-service-token': session.capability_token },
    );
  const { data } = await made(vend());
  expect(data.approval_required).toBe(true);
  const code = /code (\d{4})/.exec(data.binding_message)?.[1] ?? '';
  return { id: String(data.approval_id), code, vend };
}

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
    const { data } = await made(vend({ approval_id: id }));
    expect(data.fields.password).toBe(SECRET);
    expect(foreign).toEqual([]);

    const rows = `/api/v1/audit/events?type=ciba.approved&target_id=${id}`;
    await untilTrue(async () => (await admin.get(rows)).body.events.length === 1);
    expect((await admin.get(rows)).body.events[0]).toMatchObject({ actor_id: ada.id });
    await page.context().close();
  });

  it('is shown within a moment where it was decided elsewhere', async () => {
    const { id } = await waits();
    const page = await phone();
    await page.goto(await mailedLink(id));
    await signedIn(page);
    await page.waitForSelector('[data-left-ms]');
    const as = cardea.rest.as({ tenant, bearer: ada.token });
    await made(as.post(`/api/v1/ciba/requests/${id}/deny`));
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
    expect((await vend({ approval_id: id })).status).toBe(200);
    await page.context().close();
  });
});

/** How far the page is wider than the window. */
const sideScroll = (page: Page): Promise<number> =>
  page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  ) as Promise<number>;

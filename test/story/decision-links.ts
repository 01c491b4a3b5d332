/**
 * A person with a phone decides from the mail's link, and again from a message in a chat: sign-in by passkey, the
 * number that the agent shows, and the agent has what it waits for. Whoever plays this says where Cardea answers.
 */
import { type RestDriver, untilTrue, type WebhookSink } from '@cardea/testing';
import { expect } from 'vitest';
import {
  type ChromiumFixture,
  withAuthenticator,
} from '../../services/identity/test/chromium-fixture.ts';
import { submit } from '../../services/identity/test/page-checks.ts';

export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const SECRET = 'correct horse';
const FIELDS = ['password'];
const SERVICES = [{ service_name: 'warehouse', fields: FIELDS }];
const PASSWORD = 'a long password of Ada';

type Page = Awaited<ReturnType<ChromiumFixture['open']>>;
type Answer = Awaited<ReturnType<RestDriver['post']>>;

export type Deployment = {
  readonly rest: RestDriver;
  /** An administrator with a recent sign-in. */
  readonly admin: { readonly tenant: string; readonly bearer: string };
  /** Serves `/dev/mailbox`. */
  readonly mailbox: string;
  readonly chat: WebhookSink;
  readonly browser: ChromiumFixture;
  /** Where the browser finds Cardea's pages. */
  readonly publicUrl: string;
};

// biome-ignore lint/suspicious/noExplicitAny: as in the REST driver, tests reach into bodies.
async function made(asked: Promise<Answer>): Promise<any> {
  const answer = await asked;
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

type World = {
  readonly of: Deployment;
  readonly admin: RestDriver;
  readonly ada: { readonly id: string; readonly email: string; readonly token: string };
  readonly agent: RestDriver;
};

/** A secret that a policy guards, Ada who is asked, her agent, and a channel of the tenant's chat. */
async function prepared(of: Deployment): Promise<World> {
  const { rest, admin: as } = of;
  const admin = rest.as(as);
  const service = { name: 'warehouse', credential_type: 'static', fields: [{ name: 'password' }] };
  await made(admin.post('/api/v1/vault/services', service));
  const secrets = { fields: { password: SECRET } };
  await made(admin.put('/api/v1/vault/services/warehouse/secrets', secrets));
  const effect = { effect: 'require_approval', number_match: true };
  const policy = { name: 'Ask first', service_name: 'warehouse', fields: '*', agent_ids: '*' };
  await made(admin.post('/api/v1/vault/approval-policies', { ...policy, ...effect }));
  const email = `ada-${performance.now()}@example.com`;
  const login = { email, password: PASSWORD };
  const { id } = await made(admin.post('/api/v1/admin/users', { ...login, email_verified: true }));
  await made(admin.patch(`/api/v1/admin/users/${id}`, { vouched: true }));
  const { tenant } = as;
  const { access_token: token } = await made(rest.as({ tenant }).post('/api/v1/auth/login', login));
  const bot = await made(admin.post('/api/v1/agents', { name: 'reporter', services: SERVICES }));
  const { key } = await made(admin.post(`/api/v1/agents/${bot.id}/keys`, { name: 'ci' }));
  const channel = { name: 'Ops', format: 'slack', url: `${of.chat.url}/services/T0/B0/x` };
  await made(admin.post('/api/v1/ciba/channels', channel));
  // From here on a sign-in needs a second factor; the first one enrols a passkey.
  const settings = { settings: { mfa_policy: 'required' } };
  await made(admin.patch(`/api/v1/admin/tenants/${tenant}`, settings));
  return { of, admin, ada: { id, email, token }, agent: rest.as({ tenant, bearer: key }) };
}

/** The agent asks for the secret and has to wait. */
async function waits({ agent, ada }: World) {
  const asked = { services: SERVICES, subject_token: ada.token, purpose: `P${performance.now()}` };
  const { data: session } = await made(agent.post('/api/v1/agent/sessions', asked));
  const vend = (more: object = {}) =>
    agent.post(
      `/api/v1/agent/sessions/${session.id}/credentials`,
      { service_name: 'warehouse', fields: FIELDS, ...more },
      { headers: { 'x-service-token': session.capability_token } },
    );
  const { data } = await made(vend());
  expect(data.approval_required).toBe(true);
  const code = /code (\d{4})/.exec(data.binding_message)?.[1] ?? '';
  return { id: String(data.approval_id), code, vend };
}

const linkIn = (text: string, id: string): string | undefined =>
  new RegExp(`http://[^\\s"<>\\\\]*/approve/${id}[^\\s"<>\\\\]*`)
    .exec(text)?.[0]
    ?.replaceAll('&amp;', '&');

const mailedLink = ({ of }: World, id: string): Promise<string> =>
  untilTrue(async () => linkIn(await (await fetch(`${of.mailbox}/dev/mailbox`)).text(), id), {
    what: 'the mail has come',
  });

async function chatLink({ of }: World, id: string): Promise<string> {
  const { body } = await of.chat.waitFor((message) => message.body.includes(id));
  return linkIn(body, id) ?? '';
}

/** Signs in by password once, which enrols the passkey of this phone, and forgets that sign-in. */
async function enrolled({ of, ada }: World): Promise<Page> {
  const page = await of.browser.open({ ...PHONE, locale: 'de-DE', colorScheme: 'dark' });
  await withAuthenticator(page);
  await page.goto(`${of.publicUrl}/approve?in=${of.admin.tenant}`);
  await page.fill('#email', ada.email);
  await page.fill('#password', PASSWORD);
  await page.click('button[value=password]');
  await submit(page, 'mfa');
  await page.waitForSelector('ul.codes');
  await page.click('a.button.main');
  await page.waitForURL(/\/approve/);
  await page.context().clearCookies();
  return page;
}

/** Opens the link without a sign-in, signs in by the passkey alone, and approves with the number. */
async function approvedFrom(page: Page, link: string, code: string): Promise<void> {
  await page.goto(link);
  await page.waitForURL(/\/approve\//);
  const text = (await page.textContent('main')) ?? '';
  expect(text).toContain('reporter bittet um Ihre Entscheidung');
  expect(text).not.toContain(code);
  await page.fill('[name=binding_code]', code);
  await page.click('section[aria-labelledby=approve] button');
  await page.waitForSelector('.tag.good');
}

/** The whole story; the same page of the same phone twice, each time signed out before. */
export async function decidesFromLinks(of: Deployment): Promise<void> {
  const world = await prepared(of);
  const page = await enrolled(world);
  for (const linkOf of [mailedLink, chatLink]) {
    const { id, code, vend } = await waits(world);
    const link = await linkOf(world, id);
    expect(link.startsWith(of.publicUrl)).toBe(true);
    await approvedFrom(page, link, code);
    const { data } = await made(vend({ approval_id: id }));
    expect(data.fields.password).toBe(SECRET);
    const rows = `/api/v1/audit/events?type=ciba.approved&target_id=${id}`;
    const row = await untilTrue(async () => (await world.admin.get(rows)).body.events[0]);
    expect(row).toMatchObject({ actor_id: world.ada.id, actor_type: 'user' });
    await page.context().clearCookies();
  }
  await page.context().close();
}

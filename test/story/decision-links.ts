/**
 * A person with a phone decides from the mail's link, and again from a message in a chat: they sign in by passkey and
 * type the number that the agent shows, and the agent gets what it waits for. The caller says where Cardea answers.
 */
import { type RestDriver, untilTrue, type WebhookSink } from '@cardea/testing';
import { expect } from 'vitest';
import { type AskingAgent, askingAgent, bodyOf } from '../../scripts/pictures/asking-agent.ts';
import {
  type ChromiumFixture,
  withAuthenticator,
} from '../../services/identity/test/chromium-fixture.ts';
import { submit } from '../../services/identity/test/page-checks.ts';

export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const SECRET = 'correct horse';
const PASSWORD = 'a long password of Ada';

type Page = Awaited<ReturnType<ChromiumFixture['open']>>;

export type Deployment = {
  readonly rest: RestDriver;
  /** An administrator with a recent sign-in. */
  readonly admin: { readonly tenant: string; readonly bearer: string };
  /** Serves `/dev/mailbox`. */
  readonly mailbox: string;
  readonly chat: WebhookSink;
  readonly browser: ChromiumFixture;
  /** The URL at which the browser finds Cardea's pages. */
  readonly publicUrl: string;
};

type World = {
  readonly of: Deployment;
  readonly admin: RestDriver;
  readonly email: string;
  readonly reporter: AskingAgent;
};

/** A secret that a policy guards, Ada who approves, her agent, and a channel of the tenant's chat. */
async function prepared(of: Deployment): Promise<World> {
  const { rest, admin: as } = of;
  const admin = rest.as(as);
  const email = `ada-${performance.now()}@example.com`;
  const reporter = await askingAgent(admin, {
    service: 'warehouse',
    values: { password: SECRET },
    agent: 'reporter',
    person: { email, password: PASSWORD },
  });
  const channel = { name: 'Ops', format: 'slack', url: `${of.chat.url}/services/T0/B0/x` };
  await bodyOf(admin.post('/api/v1/ciba/channels', channel));
  // From now on a sign-in needs a second factor. The first sign-in enrols a passkey.
  const settings = { settings: { mfa_policy: 'required' } };
  await bodyOf(admin.patch(`/api/v1/admin/tenants/${as.tenant}`, settings));
  return { of, admin, email, reporter };
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
async function enrolled({ of, email }: World): Promise<Page> {
  const page = await of.browser.open({ ...PHONE, locale: 'de-DE', colorScheme: 'dark' });
  await withAuthenticator(page);
  await page.goto(`${of.publicUrl}/approve?in=${of.admin.tenant}`);
  await page.fill('#email', email);
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

/** Plays the whole story: the same page of the same phone twice, each time signed out before. */
export async function decidesFromLinks(of: Deployment): Promise<void> {
  const world = await prepared(of);
  const page = await enrolled(world);
  for (const linkOf of [mailedLink, chatLink]) {
    const { id, code, vend } = await world.reporter.asks(`P${performance.now()}`);
    const link = await linkOf(world, id);
    expect(link.startsWith(of.publicUrl)).toBe(true);
    await approvedFrom(page, link, code);
    const { data } = await bodyOf(vend());
    expect(data.fields.password).toBe(SECRET);
    const rows = `/api/v1/audit/events?type=ciba.approved&target_id=${id}`;
    const row = await untilTrue(async () => (await world.admin.get(rows)).body.events[0]);
    expect(row).toMatchObject({ actor_id: world.reporter.person.id, actor_type: 'user' });
    await page.context().clearCookies();
  }
  await page.context().close();
}

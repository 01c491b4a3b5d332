/**
 * The forms of the page of a person's own channels have the effect of their endpoints, and the page shows no address.
 */
import { publishedBy } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { approvalOfFile, type Tenant } from './approval-fixture.ts';
import { pageBrowser, type Values } from './page-browser.ts';

const fixture = approvalOfFile();

const CHANNELS = '/api/v1/ciba/channels';
const PATH = '/account/channels';
const SECRET = 'T0SECRETB0SECRETXXX';
const URL_OF = `https://hooks.slack.com/services/${SECRET}`;
const TOKEN = 'tk_verysecrettoken';

const browser = (token: string) => {
  const { get, press } = pageBrowser(fixture, token);
  return { get, press: (form: string, fields: Values = {}) => press(PATH, { ...fields, form }) };
};

const tokenOf = ({ id }: Tenant, who = 'ann', claims: object = {}, roles = ['member']) =>
  fixture.tokens.user({ tenantId: id, id: who, roles, claims });

const phone = { name: 'Phone', format: 'slack', url: URL_OF };

type Case = {
  readonly what: string;
  readonly form: 'create' | 'change' | 'test' | 'remove';
  readonly typed?: Values;
  readonly body?: object;
  readonly claims?: object;
  readonly isForeign?: true;
  readonly status: number;
};
const own = { recipient: { user_id: 'ann' } };
const CASES: readonly Case[] = [
  { what: 'added', form: 'create', typed: phone, body: { ...phone, ...own }, status: 201 },
  {
    what: 'added with a token that the program has not',
    form: 'create',
    typed: { ...phone, token: TOKEN },
    body: { ...phone, ...own, token: TOKEN },
    status: 400,
  },
  {
    what: 'added with an address inside of the network',
    form: 'create',
    typed: { ...phone, url: 'https://10.0.0.1/x' },
    body: { ...phone, ...own, url: 'https://10.0.0.1/x' },
    status: 400,
  },
  {
    what: 'added without a name',
    form: 'create',
    typed: { ...phone, name: '' },
    body: { format: 'slack', url: URL_OF, ...own },
    status: 400,
  },
  {
    what: 'added after an old sign-in',
    form: 'create',
    typed: phone,
    body: { ...phone, ...own },
    claims: { auth_time: 1 },
    status: 401,
  },
  {
    what: 'changed',
    form: 'change',
    typed: {
      name: 'Night',
      'was.name': 'Phone',
      min_severity: 'low',
      'was.min_severity': 'low',
      enabled: 'true',
      'was.enabled': 'true',
    },
    body: { name: 'Night' },
    status: 200,
  },
  { what: 'tested', form: 'test', status: 202 },
  { what: 'removed', form: 'remove', status: 200 },
  { what: 'tested by somebody else', form: 'test', isForeign: true, status: 404 },
  { what: 'removed by somebody else', form: 'remove', isForeign: true, status: 404 },
];
const METHODS = { create: 'POST', change: 'PATCH', test: 'POST', remove: 'DELETE' } as const;

async function prepared(name: string, { form, isForeign }: Case) {
  const tenant = await fixture.people(name);
  const id = form === 'create' ? '' : (await tenant.ann.post(CHANNELS, phone)).body.id;
  const before = await fixture.eventsOf(tenant.id);
  const after = before.at(-1)?.position ?? 0n;
  return { tenant, id: String(id), who: isForeign ? 'bob' : 'ann', after };
}

/** The events of the person in the log. Events of deliveries are left out, because they follow at any time. */
async function eventsOf(tenant: Tenant, after: bigint): Promise<readonly string[]> {
  const events = await fixture.eventsOf(tenant.id);
  return events
    .filter(({ metadata, position }) => position > after && metadata.actor.type !== 'system')
    .map(({ type, metadata, data }) => {
      const { reason = '', name = '', recipient = '' } = data as Values;
      return `${type} ${metadata.actor.type} ${reason} ${name} ${recipient}`;
    });
}

async function leftBy(tenant: Tenant, actorId: string, after: bigint) {
  const by = { service: 'approval', tenantId: tenant.id, actorId, after } as const;
  return { events: await eventsOf(tenant, after), published: await publishedBy(fixture, by) };
}

async function byRest(of: Case) {
  const { tenant, id, who, after } = await prepared(`rest-${CASES.indexOf(of)}`, of);
  const bearer = tokenOf(tenant, who, of.claims);
  const as = fixture.rest.as({ tenant: tenant.id, bearer });
  const path = [CHANNELS, id, of.form === 'test' ? 'test' : ''].filter((part) => part !== '');
  const sent = of.body === undefined ? {} : { body: of.body };
  const { status } = await as.call(METHODS[of.form], path.join('/'), sent);
  return { status, ...(await leftBy(tenant, who, after)) };
}

async function byPage(of: Case) {
  const { tenant, id, who, after } = await prepared(`page-${CASES.indexOf(of)}`, of);
  const params: Values = id === '' ? {} : { 'param.id': id };
  const { status } = await browser(tokenOf(tenant, who, of.claims)).press(of.form, {
    ...params,
    ...of.typed,
  });
  return { status, ...(await leftBy(tenant, who, after)) };
}

describe('people 1 a form of the page of channels', () => {
  it.each(CASES)('does what its endpoint does: $what', async (of) => {
    const rest = await byRest(of);
    const page = await byPage(of);
    expect(rest.status).toBe(of.status);
    expect(page.status).toBe(of.status < 300 ? 303 : of.status);
    expect(page.events).toEqual(rest.events);
    expect(page.published).toEqual(rest.published);
  });
});

describe('people 4 the page of channels', () => {
  it('adds what tells its person alone, also where that is an administrator', async () => {
    const tenant = await fixture.people('admins-own');
    await tenant.admin.post(CHANNELS, { ...phone, name: 'Everybody' });
    const page = browser(tokenOf(tenant, 'adm', {}, ['admin']));
    const pressed = await page.press('create', { ...phone, name: 'Mine' });
    expect(pressed.location).toBe(`${PATH}?done=create`);
    const { body } = await tenant.admin.get(CHANNELS);
    const mine = body.channels.find(({ name }: { name: string }) => name === 'Mine');
    expect(mine.recipient).toEqual({ user_id: 'adm' });
    const shown = await page.get(PATH);
    expect(shown.text).toContain('Mine');
    expect(shown.text).not.toContain('Everybody');
    const part = await page.get(`${PATH}?part=mine`);
    expect(part.text).toContain('<li>Mine (Slack)</li>');
  });

  it('asks for the token as a secret that is no password of the person', async () => {
    const tenant = await fixture.people('secret-field');
    const { text } = await browser(tokenOf(tenant)).get(`${PATH}?form=create`);
    const [, field = ''] = /(<input[^>]*name="token"[^>]*>.*?<\/button>)/.exec(text) ?? [];
    expect(field).toContain('type="password" autocomplete="off"');
    expect(field).toContain('data-hide="Hide" hidden>Show</button>');
  });

  it('shows neither address nor token, and words of the person as text', async () => {
    const tenant = await fixture.people('hidden');
    const page = browser(tokenOf(tenant));
    const name = '<b>Phone</b>';
    const ntfy = { name, format: 'ntfy', url: 'https://ntfy.example/topic-1', token: TOKEN };
    expect((await page.press('create', ntfy)).status).toBe(303);
    const { body } = await tenant.ann.get(CHANNELS);
    const { id } = body.channels[0];
    const all = [
      await page.get(PATH),
      await page.get(`${PATH}?part=mine`),
      await page.get(`${PATH}?form=change&param.id=${id}`),
      await page.press('create', { ...ntfy, url: 'none' }),
    ];
    for (const { text } of all) {
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain('topic-1');
      expect(text).not.toContain(name);
    }
    expect(all[0]?.text).toContain('&lt;b&gt;Phone&lt;/b&gt;');
    expect(all[2]?.text).toContain('value="&lt;b&gt;Phone&lt;/b&gt;"');
  });

  it('has three of a person, and says so', async () => {
    const tenant = await fixture.people('three');
    const page = browser(tokenOf(tenant));
    for (let n = 0; n < 3; n += 1) await page.press('create', { ...phone, name: `Chat ${n}` });
    const fourth = await page.press('create', phone);
    expect(fourth.status).toBe(409);
    expect(fourth.text).toContain('You have as many as there may be.');
  });
});

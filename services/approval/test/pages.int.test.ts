/** The pages on which people decide, in a browser without JavaScript. */
import { type PageCookie, pageCookies } from '@cardea/pages';
import { PeerUnavailable } from '@cardea/service';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalFixture, approvalFixture, type Tenant, wanted } from './approval-fixture.ts';

const database = testDatabase();
let fixture: ApprovalFixture;
/** Identity's new token for each token that expires while its sign-in continues. */
const renewed = new Map<string, string>();
let isIdentityAway = false;

beforeAll(async () => {
  fixture = await approvalFixture(database.url, {
    withoutSweeper: true,
    peers: {
      identity: {
        pageToken: async ({ token }) => {
          if (isIdentityAway) throw new PeerUnavailable('identity');
          return { token: renewed.get(token) ?? null };
        },
      },
    },
  });
});
afterAll(async () => {
  await fixture?.stop();
});

const REQUESTS = '/api/v1/ciba/requests';
const HALF_AN_HOUR_MS = 1_800_000;
const cookies = () => pageCookies(fixture.host.needsOf('approval').pageKeys, fixture.settings);
const origin = () => new URL(fixture.settings.PUBLIC_URL).origin;

/** A browser with a signed-in user. */
function browser(token: string) {
  const cookie: PageCookie = cookies().begun(token);
  let header = cookies().written(cookie).split(';')[0] ?? '';
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(fixture.baseUrl + path, {
      redirect: 'manual',
      ...init,
      headers: { accept: 'text/html', cookie: header, ...init.headers },
    });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ''] = set.split(';');
      if (pair.startsWith('cardea=')) header = pair;
    }
    const text = await answer.text();
    return { status: answer.status, text, headers: answer.headers };
  };
  return {
    get: (path: string) => ask(path),
    /** Submits a form of a page with the typed values. */
    press: async (path: string, form: string, typed: { [field: string]: string } = {}) => {
      const { text } = await ask(path);
      return ask(path, formOf({ form, form_token: tokenIn(text), ...typed }, origin()));
    },
    ask,
    header: () => header,
  };
}

const formOf = (fields: { [field: string]: string }, from: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', origin: from },
  body: new URLSearchParams(fields),
});

/** Both forms of a page have the same token. */
const tokenIn = (page: string): string =>
  /name="form" value="deny"><input type="hidden" name="form_token" value="([^"]+)"/.exec(
    page,
  )?.[1] ?? '';

const annOf = ({ id }: Tenant, more: object = {}) =>
  browser(fixture.tokens.user({ tenantId: id, id: 'ann', ...more }));

async function asked(name: string, more: object = {}) {
  const tenant = await fixture.people(name);
  const { body } = await tenant.bot.post(REQUESTS, wanted(more));
  const status = async () => (await tenant.ann.get(`${REQUESTS}/${body.id}`)).body.status;
  return { tenant, id: String(body.id), path: `/approve/${body.id}`, status };
}

describe('the page of a request', () => {
  it('approval 20 is shown to who is asked, in words that are text, and changes nothing', async () => {
    const { tenant, path, status } = await asked('shown', { reason: '<script>alert(1)</script>' });
    const page = await annOf(tenant).get(path);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Deploy Bot asks for your decision');
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('content-security-policy')).toContain(`frame-ancestors 'none'`);
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
    expect(await status()).toBe('pending');
    const list = await annOf(tenant).get('/approve');
    expect(list.text).toContain(`href="${path}"`);
  });

  it('approves and denies by its forms, and shows what became of it', async () => {
    const one = await asked('approved');
    const ann = annOf(one.tenant);
    const pressed = await ann.press(one.path, 'approve');
    expect([pressed.status, pressed.headers.get('location')]).toEqual([303, one.path]);
    expect(await one.status()).toBe('approved');
    expect((await ann.get(one.path)).text).toContain('Approved');

    const other = await asked('denied');
    const typed = { reason: ' not today ', mute_agent_minutes: '15' };
    expect((await annOf(other.tenant).press(other.path, 'deny', typed)).status).toBe(303);
    expect(await other.status()).toBe('denied');
    const again = await other.tenant.bot.post(REQUESTS, wanted());
    expect(again.code).toBe('agent_muted');
  });

  it('says why the endpoint refused, with its status, and keeps what was typed', async () => {
    const { tenant, path, id } = await asked('refused');
    const ann = annOf(tenant);
    const { text } = await ann.get(path);
    await tenant.ann.post(`${REQUESTS}/${id}/deny`);
    const late = await ann.ask(
      path,
      formOf({ form: 'approve', form_token: tokenIn(text) }, origin()),
    );
    expect(late.status).toBe(409);
    expect(late.text).toContain('This was decided meanwhile.');

    const other = await asked('too-long');
    const long = await annOf(other.tenant).press(other.path, 'deny', { reason: 'x'.repeat(281) });
    expect(long.status).toBe(400);
    expect(long.text).toContain('x'.repeat(281));
    expect(await other.status()).toBe('pending');
  });

  it('compares the number of a vend, and denies after three wrong ones', async () => {
    const tenant = await fixture.people('numbers');
    const vend = await fixture.open(tenant.id, { digest: 'd1', number_match: true });
    const path = `/approve/${vend['id']}`;
    const code = /code (\d{4})/.exec(String(vend['binding_message']))?.[1] ?? '';
    const ann = annOf(tenant);
    const page = await ann.get(path);
    expect(page.text).toContain('token');
    expect(page.text).not.toContain(code);
    const wrong = code === '0000' ? '1111' : '0000';
    const first = await ann.press(path, 'approve', { binding_code: wrong });
    expect([first.status, first.text.includes('not the code of this request')]).toEqual([
      422,
      true,
    ]);
    expect((await ann.press(path, 'approve')).status).toBe(422);
    expect((await ann.press(path, 'approve', { binding_code: code })).status).toBe(303);
    expect((await ann.get(path)).text).toContain('The agent may use it once');
  });

  it('is the same page for who may not see it and for an id that nobody has', async () => {
    const { tenant, path } = await asked('foreign');
    const bob = browser(fixture.tokens.user({ tenantId: tenant.id, id: 'bob' }));
    const [theirs, unknown] = await Promise.all([bob.get(path), bob.get('/approve/nothing')]);
    expect([theirs.status, unknown.status]).toEqual([404, 404]);
    const without = (text: string) => text.replaceAll(/%2Fapprove%2F[\w-]+/g, '');
    expect(without(theirs.text)).toBe(without(unknown.text));
    expect(theirs.text).toContain('Sign in as somebody else');
    const pressed = await bob.ask(path, formOf({ form: 'approve', form_token: '' }, origin()));
    expect(pressed.status).toBe(403);
  });

  it('lets an administrator read, and decide nothing', async () => {
    const { tenant, path } = await asked('administrator');
    const of = { tenantId: tenant.id, id: 'adm', roles: ['admin'] };
    const page = await browser(fixture.tokens.user(of)).get(path);
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('name="form" value="approve"');
  });
});

describe('who is not signed in', () => {
  it('approval 20 learns nothing and is sent to the sign-in, whether or not there is a request', async () => {
    const { path, status, tenant } = await asked('scanner');
    for (const there of [path, '/approve/nothing', '/approve']) {
      const answer = await fetch(`${fixture.baseUrl}${there}?in=${tenant.id}`, {
        redirect: 'manual',
      });
      const query = new URLSearchParams({ return_to: there, in: tenant.id });
      expect(answer.headers.get('location')).toBe(`/account/sign-in?${query}`);
      expect(await answer.text()).toBe('');
    }
    const posted = await fetch(
      fixture.baseUrl + path,
      formOf({ form: 'approve', form_token: 'x' }, origin()),
    );
    expect(posted.status).toBe(401);
    expect(await status()).toBe('pending');
  });

  it('is offered the tenant of the link where they are signed in elsewhere', async () => {
    const { tenant, path } = await asked('elsewhere');
    const page = await annOf(tenant).get(`${path}?in=other`);
    expect(page.text).toContain('This link is of another organization.');
    expect(page.text).not.toContain('Deploy Bot');
  });
});

describe('people 6 a form', () => {
  it('of another site, of another page or of another sign-in does nothing', async () => {
    const { tenant, path, status } = await asked('forged');
    const ann = annOf(tenant);
    const token = tokenIn((await ann.get(path)).text);
    const fields = { form: 'approve', form_token: token };
    const other = await asked('other-form');
    const ofOther = tokenIn((await annOf(other.tenant).get(other.path)).text);
    const none = formOf(fields, origin());
    const attacks: readonly RequestInit[] = [
      formOf(fields, 'https://evil.example'),
      formOf(fields, 'null'),
      { ...none, headers: { ...none.headers, 'sec-fetch-site': 'cross-site' } },
      { ...none, headers: { ...none.headers, 'sec-fetch-site': 'same-site' } },
      { ...none, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      formOf({ ...fields, form_token: '' }, origin()),
      formOf({ ...fields, form_token: ofOther }, origin()),
    ];
    for (const attack of attacks) expect((await ann.ask(path, attack)).status).toBe(403);
    for (const unknown of [
      { ...fields, form: 'toString' },
      { ...fields, user_id: 'bob' },
      { ...fields, reason: 'of the other form' },
    ]) {
      expect((await ann.ask(path, formOf(unknown, origin()))).status).toBe(400);
    }
    expect(await status()).toBe('pending');
  });

  it('with a sealed cookie alone opens nothing of the API, and a bearer opens no page', async () => {
    const { tenant, id, path } = await asked('crossed');
    const token = fixture.tokens.user({ tenantId: tenant.id, id: 'ann' });
    const header = browser(token).header();
    const api = await fetch(`${fixture.baseUrl}${REQUESTS}/${id}`, {
      headers: { cookie: header, 'x-service-tenant': tenant.id },
    });
    expect(api.status).toBe(401);
    const page = await fetch(fixture.baseUrl + path, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(page.status).toBe(303);
  });

  it('with a cookie that was changed or made under another key is nobody', async () => {
    const { tenant, path } = await asked('sealed');
    const header = annOf(tenant).header();
    const at = header.length - 20;
    const changed = `${header.slice(0, at)}${header[at] === 'A' ? 'B' : 'A'}${header.slice(at + 1)}`;
    for (const cookie of [changed, 'cardea=abc', 'cardea=']) {
      const page = await fetch(fixture.baseUrl + path, {
        redirect: 'manual',
        headers: { cookie },
      });
      expect(page.status).toBe(303);
    }
  });

  it('by an agent, an application or an impersonating administrator decides nothing', async () => {
    const { tenant, path, status } = await asked('tokens');
    const user = { tenantId: tenant.id, id: 'ann' };
    const impersonated = { ...user, claims: { act: { sub: 'adm' } } };
    const application = { ...user, claims: { client_id: 'app', scope: 'openid profile' } };
    const bot = { tenantId: tenant.id, id: 'bot', sessionId: 's1', userId: 'ann' };
    for (const token of [
      fixture.tokens.agent(bot),
      fixture.tokens.user(impersonated),
      fixture.tokens.user(application),
    ]) {
      const weak = browser(token);
      const ours = { form: 'approve', form_token: tokenIn((await weak.get(path)).text) };
      expect((await weak.ask(path, formOf(ours, origin()))).status).not.toBe(303);
    }
    expect(await status()).toBe('pending');
  });
});

describe('a token that ends under an open page', () => {
  it('people 5 is renewed where the sign-in goes on: pressed once, done once', async () => {
    const { tenant, path } = await asked('renewed', { ttl_seconds: 7_200 });
    const first = fixture.tokens.user({ tenantId: tenant.id, id: 'ann' });
    const ann = browser(first);
    const token = tokenIn((await ann.get(path)).text);
    fixture.clock.move(HALF_AN_HOUR_MS);
    renewed.set(first, fixture.tokens.user({ tenantId: tenant.id, id: 'ann' }));
    const before = ann.header();
    const pressed = await ann.ask(path, formOf({ form: 'approve', form_token: token }, origin()));
    expect(pressed.status).toBe(303);
    expect(ann.header()).not.toBe(before);
    const fresh = fixture.rest.as({
      tenant: tenant.id,
      bearer: fixture.tokens.user({ tenantId: tenant.id, id: 'ann' }),
    });
    const { body } = await fresh.get(`${REQUESTS}/${path.split('/').at(-1)}`);
    expect(body.status).toBe('approved');
  });

  it('people 4 leads to the sign-in where that is over, and does nothing', async () => {
    const { tenant, path } = await asked('ended', { ttl_seconds: 7_200 });
    const ann = annOf(tenant);
    const token = tokenIn((await ann.get(path)).text);
    fixture.clock.move(HALF_AN_HOUR_MS);
    const pressed = await ann.ask(path, formOf({ form: 'approve', form_token: token }, origin()));
    expect(pressed.status).toBe(401);
    expect(pressed.text).toContain('Nothing was done.');
    // The typed values stay in the page, and are submitted after a sign-in in another window.
    expect(pressed.text).toContain('<input type="hidden" name="form" value="approve">');
    const other = annOf(tenant);
    const typed = { form: 'deny', form_token: token, reason: 'not today' };
    const again = await other.ask(path, formOf(typed, origin()));
    expect(again.status).toBe(403);
    expect(again.text).toContain('value="not today"');
    const bearer = fixture.tokens.user({ tenantId: tenant.id, id: 'ann' });
    const { body } = await fixture.rest
      .as({ tenant: tenant.id, bearer })
      .get(`${REQUESTS}/${path.split('/').at(-1)}`);
    expect(body.status).toBe('pending');
    expect((await ann.get(path)).headers.get('location')).toMatch(/^\/account\/sign-in\?/);
  });

  it('people 5 is 503 while identity is away', async () => {
    const { tenant, path } = await asked('away', { ttl_seconds: 7_200 });
    const ann = annOf(tenant);
    fixture.clock.move(HALF_AN_HOUR_MS);
    isIdentityAway = true;
    try {
      const page = await ann.get(path);
      expect([page.status, page.text.includes('This does not work at the moment.')]).toEqual([
        503,
        true,
      ]);
      const typed = { form: 'deny', form_token: 'x', reason: 'not today' };
      const pressed = await ann.ask(path, formOf(typed, origin()));
      expect(pressed.status).toBe(503);
      expect(pressed.text).toContain('name="reason" value="not today"');
    } finally {
      isIdentityAway = false;
    }
  });
});

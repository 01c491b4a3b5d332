/**
 * For any request of an application, a person sees each page once and the flow ends. Several open flows in one browser
 * each end in a response or in a page that explains what happened.
 */
import { testForm } from '@cardea/testing';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { nextCode, withTotp } from './mfa-fixture.ts';
import {
  application,
  authorizeUrl,
  type Browser,
  browser,
  oauthOfFile,
  pkce,
  type TestClient,
} from './oauth-fixture.ts';

const { fixture } = oauthOfFile({ RATE_LIMIT_FACTOR: '100000' });
let admin: Account;
beforeEach(async () => {
  admin = await fixture.signUp();
});

type Person = Account & { readonly secret?: string };
type Step = 'login' | 'mfa' | 'select_account' | 'create' | 'consent';
const STEPS_MAX = 6;
const FLOWS_MS = 240_000;

const urlOf = (client: TestClient, more: { [name: string]: string } = {}) =>
  authorizeUrl(client, { code_challenge: pkce().challenge, ...more });
/** The absolute URL of a redirect. */
const absolute = (at: string) => new URL(at, fixture.issuer).href;
const isPage = (at: string) => at.includes('/oauth2/interaction/');

/** Submits one page as the person, and returns where the browser is redirected. */
async function answer(page: Browser, at: string, who: Person): Promise<[Step, string]> {
  const { body } = await page.get(at, { accept: 'application/json' });
  const post = async (path: string, form: object) => {
    const answered = await page.form(`${at}/${path}`, form);
    expect(answered.status, answered.text).toBe(303);
    return answered.location;
  };
  switch (body.prompt as Step) {
    case 'login':
      return ['login', await post('login', { email: who.email, password: PASSWORD })];
    case 'mfa': {
      const code = nextCode(fixture, who.secret ?? '');
      return ['mfa', await post('mfa', { method: 'totp', code })];
    }
    case 'select_account':
      return ['select_account', await post('account', {})];
    case 'create':
      return ['create', await registered(post)];
    case 'consent': {
      const scopes = (body.scopes as { name: string }[]).map(({ name }) => `scope:${name}`);
      return ['consent', await post('consent', Object.fromEntries(scopes.map((n) => [n, 'on'])))];
    }
  }
}

let registrations = 0;

/** Registers a new account up to the code in its mail. */
async function registered(post: (path: string, form: object) => Promise<string>) {
  registrations += 1;
  const email = `new.${registrations}@example.com`;
  await post('register', { email, password: PASSWORD });
  const { text } = await fixture.mail(email, /Confirm/);
  return post('verify-email', { code: /type this code [^:]+: (\S+)/.exec(text)?.[1] ?? '' });
}

/** The pages that a flow shows, in order, and where it ends. */
async function played(page: Browser, start: string, who: Person) {
  const steps: Step[] = [];
  let at = absolute((await page.get(start)).location);
  for (let turn = 0; turn < 2 * STEPS_MAX && at.startsWith(`${fixture.issuer}/`); turn += 1) {
    if (!isPage(at)) {
      at = absolute((await page.get(at)).location);
      continue;
    }
    const [step, next] = await answer(page, at, who);
    steps.push(step);
    at = absolute(next);
  }
  return { steps, end: new URL(at).searchParams };
}

type Case = {
  readonly state: 'none' | 'part' | 'all';
  readonly isSignedIn: boolean;
  readonly prompt?: string;
  readonly max_age?: string;
};
const PROMPTS = [
  {},
  ...['login', 'consent', 'login consent', 'select_account consent', 'create'].map((prompt) => ({
    prompt,
  })),
];
const AGES = [{}, ...['0', '3600'].map((max_age) => ({ max_age }))];
const CASES: readonly Case[] = (['none', 'part', 'all'] as const).flatMap((state) =>
  [true, false].flatMap((isSignedIn) =>
    PROMPTS.flatMap((prompt) => AGES.map((age) => ({ state, isSignedIn, ...prompt, ...age }))),
  ),
);

describe('a flow [oauth-30]', () => {
  // The counts are printed, because the duration depends on the machine.
  const all = { combinations: 0, seconds: 0 };
  afterAll(() => {
    console.log(`${all.combinations} combinations of prompts in ${all.seconds.toFixed(1)} s`);
  });

  const parties = [true, false].flatMap((first_party) =>
    [true, false].map((withSecond) => ({ first_party, withSecond })),
  );
  /** The long form plays each case with each party, the short form with one of them. */
  const casesOf = (party: { readonly first_party: boolean; readonly withSecond: boolean }) => {
    const number = parties.findIndex(
      ({ first_party, withSecond }) =>
        first_party === party.first_party && withSecond === party.withSecond,
    );
    return CASES.filter((_, at) => testForm.long || at % parties.length === number);
  };

  it.each(parties)(
    'shows each page once and ends, whatever is asked for (first party $first_party, second factor $withSecond)',
    async ({ first_party, withSecond }) => {
      const bob = await fixture.register(admin.tenantId);
      const who: Person = withSecond ? await withTotp(fixture, bob) : bob;
      const other = await application(fixture, admin, { first_party: true });
      const faults: object[] = [];
      // Created before the clock advances, since codes of second factors need time to pass.
      const clients: TestClient[] = [];
      const cases = casesOf({ first_party, withSecond });
      for (const _case of cases) clients.push(await application(fixture, admin, { first_party }));
      const startMs = performance.now();
      for (const [at, { state, isSignedIn, ...asked }] of cases.entries()) {
        const client = clients[at] ?? other;
        const page = browser(fixture);
        const before = state === 'part' ? { scope: 'openid' } : {};
        if (state !== 'none') await played(page, urlOf(client, before), who);
        else if (isSignedIn) await played(page, urlOf(other), who);
        if (!isSignedIn) page.jar.clear();
        const { steps, end } = await played(page, urlOf(client, asked), who);
        const prompts = asked.prompt?.split(' ') ?? [];
        const isNew = prompts.includes('create');
        const due = [
          ...(isNew ? ['create'] : isSignedIn && !prompts.includes('login') ? [] : ['login']),
          ...(isSignedIn && prompts.includes('select_account') && asked.max_age !== '0'
            ? ['select_account']
            : []),
          ...(prompts.includes('consent') || (!first_party && (isNew || state !== 'all'))
            ? ['consent']
            : []),
        ];
        const isOnce = new Set(steps).size === steps.length && steps.length <= STEPS_MAX;
        const isWhole = due.every((step) => steps.includes(step as Step));
        if (!isOnce || !isWhole || end.get('code') === null) {
          faults.push({ state, isSignedIn, ...asked, steps, due, error: end.get('error') });
        }
      }
      all.combinations += cases.length;
      all.seconds += (performance.now() - startMs) / 1_000;
      expect(faults).toEqual([]);
    },
    FLOWS_MS,
  );
});

describe('the choice of an account', () => {
  const choosing = { prompt: 'select_account' };

  it('oauth 30 shows who is signed in, and goes on as them', async () => {
    const client = await application(fixture, admin, { first_party: true });
    const [page, ann] = [browser(fixture), await fixture.register(admin.tenantId)];
    await played(page, urlOf(client), ann);
    const at = absolute((await page.get(urlOf(client, choosing))).location);
    expect((await page.get(at)).text).toContain(`Continue as ${ann.email}`);
    const { steps, end } = await played(page, urlOf(client, choosing), ann);
    expect([steps, typeof end.get('code')]).toEqual([['select_account'], 'string']);
  });

  it('oauth 30 lets somebody else sign in, who is asked nothing twice', async () => {
    const client = await application(fixture, admin);
    const [page, ann] = [browser(fixture), await fixture.register(admin.tenantId)];
    const bob = await fixture.register(admin.tenantId);
    await played(page, urlOf(client), ann);
    const at = absolute((await page.get(urlOf(client, choosing))).location);
    const other = await page.form(`${at}/restart`, {});
    const [step, next] = await answer(page, absolute(other.location), bob);
    const consent = absolute((await page.get(next)).location);
    expect([step, (await page.get(consent)).text.includes(bob.email)]).toEqual(['login', true]);
    const [last, end] = await answer(page, consent, bob);
    const { location } = await page.get(end);
    expect([last, new URL(location).searchParams.has('code')]).toEqual(['consent', true]);
  });

  it('oauth 30 is the sign-in where nobody is signed in', async () => {
    const client = await application(fixture, admin, { first_party: true });
    const ann = await fixture.register(admin.tenantId);
    const { steps, end } = await played(browser(fixture), urlOf(client, choosing), ann);
    expect([steps, typeof end.get('code')]).toEqual([['login'], 'string']);
  });

  it('oauth 30 goes on as nobody who has signed out meanwhile', async () => {
    const client = await application(fixture, admin, { first_party: true });
    const [page, ann] = [browser(fixture), await fixture.register(admin.tenantId)];
    await played(page, urlOf(client), ann);
    const at = absolute((await page.get(urlOf(client, choosing))).location);
    for (const [key, { name }] of page.jar) {
      if (name.startsWith('cardea_session')) page.jar.delete(key);
    }
    const pressed = await page.form(`${at}/account`, {});
    expect([pressed.status, absolute(pressed.location)]).toEqual([303, at]);
    expect((await page.get(at)).text).toContain('name="password"');
  });

  it('oauth 30 is named by the metadata, and other prompts are refused', async () => {
    const { body } = await fixture.rest.get('/.well-known/openid-configuration');
    expect(body.prompt_values_supported).toEqual([
      ...['login', 'consent', 'none', 'select_account', 'create'],
    ]);
    const client = await application(fixture, admin, { first_party: true });
    for (const prompt of ['select_everything', 'none select_account', 'none create']) {
      const { location } = await browser(fixture).get(urlOf(client, { prompt }));
      expect(new URL(location).searchParams.get('error')).toBe('invalid_request');
    }
  });
});

describe('flows that are open at once in one browser [oauth-31]', () => {
  const shop = () => application(fixture, admin, { first_party: true });
  const newcomer = () => fixture.register(admin.tenantId);
  const begun = async (page: Browser, client: TestClient, more: { [name: string]: string } = {}) =>
    absolute((await page.get(urlOf(client, more))).location);
  const logIn = async (page: Browser, at: string, who: Person) => (await answer(page, at, who))[1];
  const ends = async (page: Browser, at: string) => {
    const last = await page.get(at);
    return { status: last.status, code: new URL(last.location, at).searchParams.get('code') };
  };

  it('end in an answer each, of two persons who sign in one after the other', async () => {
    const [client, page] = [await shop(), browser(fixture)];
    const [ann, bob] = [await newcomer(), await newcomer()];
    const tabs = [await begun(page, client), await begun(page, client)];
    for (const [at, who] of [
      [tabs[0], ann],
      [tabs[1], bob],
    ] as const) {
      const { status, code } = await ends(page, await logIn(page, at ?? '', who));
      expect({ status, code: typeof code }).toEqual({ status: 303, code: 'string' });
    }
  });

  it('end in an answer each, where both signed in before either went on', async () => {
    const [client, page] = [await shop(), browser(fixture)];
    const [ann, bob] = [await newcomer(), await newcomer()];
    const tabs = [await begun(page, client), await begun(page, client), await begun(page, client)];
    const resumes: string[] = [];
    for (const [at, who] of [
      [tabs[0], ann],
      [tabs[1], bob],
      [tabs[2], ann],
    ] as const) {
      resumes.push(await logIn(page, at ?? '', who));
    }
    for (const at of resumes) {
      const { status, code } = await ends(page, at);
      expect({ status, code: typeof code }).toEqual({ status: 303, code: 'string' });
    }
  });

  it('ask for the sign-in again, with the reason, where somebody else signed in meanwhile', async () => {
    const third = await application(fixture, admin);
    const [client, page] = [await shop(), browser(fixture)];
    const [ann, bob] = [await newcomer(), await newcomer()];
    await played(page, urlOf(client), ann);
    const consent = await begun(page, third);
    expect((await page.get(consent)).text).toContain(ann.email);
    await played(page, urlOf(client, { prompt: 'login' }), bob);
    const shown = await page.get(consent);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('Somebody else has signed in or out');
    expect(shown.text).not.toContain(ann.email);
    const pressed = await page.form(`${consent}/consent`, { 'scope:openid': 'on' });
    expect([pressed.status, pressed.location]).toEqual([303, new URL(consent).pathname]);
    const { steps, end } = await played(page, urlOf(third), bob);
    expect([steps, typeof end.get('code')]).toEqual([['consent'], 'string']);
    const at = await logIn(page, consent, ann);
    const next = await page.get(at);
    expect(isPage(next.location)).toBe(true);
    expect((await page.get(next.location)).text).toContain(ann.email);
  });

  it('go on where the same person signed in again meanwhile', async () => {
    const third = await application(fixture, admin);
    const [client, page, ann] = [await shop(), browser(fixture), await newcomer()];
    await played(page, urlOf(client), ann);
    const consent = await begun(page, third);
    await played(page, urlOf(client, { prompt: 'login' }), ann);
    const [step, next] = await answer(page, consent, ann);
    const { status, code } = await ends(page, next);
    expect({ step, status, code: typeof code }).toEqual({
      ...{ step: 'consent', status: 303, code: 'string' },
    });
  });

  it('say so on a page where the cookie is gone', async () => {
    const [client, page] = [await shop(), browser(fixture)];
    const at = await begun(page, client);
    page.jar.clear();
    const shown = await page.get(at);
    expect(shown.headers.get('content-type')).toContain('text/html');
    expect(shown.text).toContain('This page has lapsed');
  });
});

/** The kinds of deferred credentials, and the basis of each. */
import { randomBytes } from 'node:crypto';
import { untilTrue } from '@cardea/testing';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { codeOf, STEP_MS, show, withTotp } from './mfa-fixture.ts';
import {
  application,
  authorizeUrl,
  type Browser,
  browser,
  type OAuthFixture,
  oauthCalls,
  pkce,
  REDIRECT,
  signIn,
  type TestClient,
  token,
} from './oauth-fixture.ts';
import { knownAt, PAGE, type SocialFixture, socialFixture } from './social-fixture.ts';

/** `login`: the session in which the person signed in. `browser`: the session of the hosted pages. */
export type Part = 'user' | 'browser' | 'login' | 'consent' | 'application';

export type World = {
  readonly fixture: OAuthFixture;
  readonly social: SocialFixture;
  readonly admin: Account;
  /** A new user who is signed in. This session makes the changes. */
  person(isUnverified?: boolean): Promise<Account>;
  stop(): Promise<void>;
};

const SECOND_MS = 1_000;
const SCOPES = ['openid', 'profile', 'email', 'offline_access'];
const SCOPE = SCOPES.join(' ');

type Signed = { readonly client: TestClient; readonly page: Browser; readonly verifier: string };
/** The origin of a credential, for the events that end it. */
export type Source = { login?: Account; client?: TestClient; browserSid?: string };
const SOURCES = new WeakMap<Account, Source>();
export const sourceOf = (person: Account): Source => SOURCES.get(person) ?? {};
const leave = (person: Account, source: Source) => {
  SOURCES.set(person, source);
};

export async function world(fixture: OAuthFixture): Promise<World> {
  let admin = await fixture.signUp('boss');
  const social = await socialFixture(fixture);
  const methods = ['password', 'passkeys', 'magic_link', 'otp', 'google', 'github', 'microsoft'];
  await social.setUp(admin, { auth_methods: methods });
  return {
    fixture,
    social,
    get admin() {
      return admin;
    },
    person: async (isUnverified = false) => {
      // The clock advances between the cases, and creating users requires a recent sign-in.
      admin = await signedIn(fixture, admin);
      const email = `carol.${randomBytes(5).toString('hex')}@example.com`;
      const body = { email, password: PASSWORD, email_verified: !isUnverified };
      const made = await fixture.as(admin).post('/api/v1/admin/users', body);
      if (made.status !== 201) throw new Error(made.text);
      return await signedIn(fixture, { tenantId: admin.tenantId, email });
    },
    stop: () => social.stop(),
  };
}

async function signedIn(
  fixture: OAuthFixture,
  of: Pick<Account, 'tenantId' | 'email'>,
): Promise<Account> {
  const { status, text, body } = await fixture.logIn(of);
  if (status !== 200) throw new Error(text);
  const { user_id: userId, access_token: access, refresh_token: refresh } = body;
  return { ...of, userId, access, refresh };
}

export const sidOf = (access: string): string =>
  JSON.parse(Buffer.from(access.split('.')[1] ?? '', 'base64url').toString()).sid;

const browserSession = ({ fixture }: World, person: Account): Promise<string> =>
  untilTrue(async () => {
    const { body } = await fixture.as(person).get('/api/v1/me/sessions');
    const own = sidOf(person.access);
    return body.sessions.find(
      (each: { id: string; client_id?: string }) => each.id !== own && each.client_id === undefined,
    )?.id;
  });

async function codeFor(here: World, person: Account) {
  const { fixture } = here;
  const client = await application(fixture, here.admin, { scopes: SCOPES });
  const { verifier, challenge } = pkce();
  const page = browser(fixture);
  const url = authorizeUrl(client, { code_challenge: challenge, scope: SCOPE });
  const back = await signIn(page, url, { account: person });
  const signed: Signed = { client, page, verifier };
  leave(person, { client, browserSid: await browserSession(here, person) });
  return { ...signed, code: back.searchParams.get('code') ?? '' };
}

const exchange = (fixture: OAuthFixture, { client, verifier, code }: Signed & { code: string }) =>
  token(fixture, {
    ...{ grant_type: 'authorization_code', code, redirect_uri: REDIRECT },
    ...{ client_id: client.client_id, code_verifier: verifier },
  });

export const inTenant = ({ tenantId: tenant }: Account) => ({ tenant });

type Deferred = {
  readonly provesAddress?: true;
  readonly restsOn: readonly Part[];
  /** Issues the credential. The result uses it and returns whether that succeeded. */
  readonly issue: (here: World, person: Account) => Promise<() => Promise<boolean>>;
};

const mailed = (of: {
  readonly ask: (here: World, person: Account) => Promise<unknown>;
  readonly about: RegExp;
  readonly path: string;
  readonly more?: object;
}): Deferred => ({
  restsOn: ['user'],
  issue: async (here, person) => {
    const { fixture } = here;
    await of.ask(here, person);
    const { token: secret } = await fixture.mail(person.email, of.about);
    return async () =>
      (await fixture.rest.post(of.path, { token: secret, ...of.more })).status === 200;
  },
});

export const AUTH = '/api/v1/auth';

/** Uses an access token with a recent `auth_time` in a call that requires one. */
const stepUpProof = (
  signIn: (here: World, person: Account) => Promise<string>,
  restsOn: readonly Part[] = ['user', 'login'],
): Deferred => ({
  restsOn,
  issue: async (here, person) => {
    const access = await signIn(here, person);
    const own = here.fixture.as({ ...person, access });
    return async () => (await own.post('/api/v1/me/mfa/totp')).status === 201;
  },
});

export const DEFERRED: { readonly [kind: string]: Deferred } = {
  'authorization code': {
    restsOn: ['user', 'browser', 'consent', 'application'],
    issue: async (here, person) => {
      const signed = await codeFor(here, person);
      return async () => (await exchange(here.fixture, signed)).status === 200;
    },
  },
  'pushed authorization request': {
    restsOn: ['application'],
    issue: async ({ fixture, admin }, person) => {
      const client = await application(fixture, admin, { scopes: SCOPES });
      leave(person, { client });
      const asked = new URL(
        authorizeUrl(client, { code_challenge: pkce().challenge, scope: SCOPE }),
        fixture.baseUrl,
      );
      const pushed = await fetch(`${fixture.baseUrl}/oauth2/par`, {
        method: 'POST',
        body: asked.searchParams,
      });
      const { request_uri } = (await pushed.json()) as { request_uri: string };
      const query = new URLSearchParams({ client_id: client.client_id, request_uri });
      return async () =>
        (await browser(fixture).get(`/oauth2/authorize?${query}`)).location.includes(
          '/oauth2/interaction/',
        );
    },
  },
  'page that asks for a consent': {
    restsOn: ['user', 'browser', 'application'],
    issue: async (here, person) => {
      const { fixture, admin } = here;
      const client = await application(fixture, admin, { scopes: SCOPES });
      const page = browser(fixture);
      const url = authorizeUrl(client, { code_challenge: pkce().challenge, scope: SCOPE });
      const login = new URL((await page.get(url)).location, fixture.baseUrl).pathname;
      const { email } = person;
      const done = await page.post(`${login}/login`, { email, password: PASSWORD });
      const { location } = await page.get(done.body.redirect_to);
      leave(person, { client, browserSid: await browserSession(here, person) });
      const consent = new URL(location, fixture.baseUrl).pathname;
      return async () => {
        const { status, body } = await page.post(`${consent}/consent`);
        // The page redirects to itself and requires the sign-in again, so nothing was granted.
        return status === 200 && body.redirect_to !== consent;
      };
    },
  },
  'magic link': mailed({
    ask: ({ fixture }, person) =>
      fixture.rest.post(`${AUTH}/magic-link`, { email: person.email }, inTenant(person)),
    about: /^Sign in/,
    path: `${AUTH}/magic-link/verify`,
  }),
  'reset link': mailed({
    ask: ({ fixture }, person) =>
      fixture.rest.post(`${AUTH}/forgot-password`, { email: person.email }, inTenant(person)),
    about: /password/i,
    path: `${AUTH}/reset-password`,
    more: { new_password: 'a password by the link' },
  }),
  'reset link of an administrator': mailed({
    ask: ({ fixture, admin }, { userId }) =>
      fixture.as(admin).post(`/api/v1/admin/users/${userId}/reset-password`),
    about: /password/i,
    path: `${AUTH}/reset-password`,
    more: { new_password: 'a password by the link' },
  }),
  'mailed code': {
    restsOn: ['user'],
    issue: async ({ fixture }, person) => {
      const at = inTenant(person);
      await fixture.rest.post(`${AUTH}/otp/send`, { email: person.email }, at);
      const { text } = await fixture.mail(person.email, /code/i);
      const code = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0];
      const body = { code, email: person.email };
      return async () => (await fixture.rest.post(`${AUTH}/otp/verify`, body, at)).status === 200;
    },
  },
  'token of a sign-in whose second factor is due': {
    restsOn: ['user'],
    issue: async ({ fixture }, person) => {
      const { secret } = await withTotp(fixture, person);
      const { body } = await fixture.logIn(person);
      fixture.clock.move(STEP_MS);
      return async () => {
        const code = codeOf(secret, fixture.clock.now());
        return (await show(fixture, body.mfa_token, { method: 'totp', code })).status === 200;
      };
    },
  },
  'refresh token': {
    restsOn: ['user', 'login'],
    issue: async ({ fixture }, person) => {
      const login = await signedIn(fixture, person);
      leave(person, { login });
      return async () => (await fixture.refresh(login.refresh)).status === 200;
    },
  },
  'refresh token of an application': {
    // The application's permissions are computed at each refresh.
    restsOn: ['user', 'consent'],
    issue: async (here, person) => {
      const signed = await codeFor(here, person);
      const { body } = await exchange(here.fixture, signed);
      const { refresh } = oauthCalls(() => here.fixture);
      return async () => (await refresh(signed.client, body.refresh_token)).status === 200;
    },
  },
  'step-up proof': stepUpProof(async ({ fixture }, person) => {
    const login = await signedIn(fixture, person);
    leave(person, { login });
    const shown = { method: 'password', password: PASSWORD };
    const { status, text, body } = await fixture
      .as({ ...person, access: login.access })
      .post(`${AUTH}/step-up`, shown);
    if (status !== 200) throw new Error(text);
    return body.access_token;
  }),
  'sign-in by a mailed code, without a session': {
    ...stepUpProof(
      async ({ fixture }, person) => {
        const at = inTenant(person);
        const { email } = person;
        await fixture.rest.post(`${AUTH}/otp/send`, { email }, at);
        const mail = await fixture.mail(email, /code/i);
        const code = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(mail.text)?.[0];
        const { text, body } = await fixture.rest.post(`${AUTH}/otp/verify`, { code, email }, at);
        if (body.access_token === undefined) throw new Error(text);
        // Only its issue time shows whether it was issued before the end of all sessions.
        fixture.clock.move(SECOND_MS);
        return body.access_token;
      },
      ['user'],
    ),
    provesAddress: true,
  },
  'exchange code of a sign-in by a provider': {
    provesAddress: true,
    restsOn: ['user', 'login'],
    issue: async ({ fixture, social }, person) => {
      knownAt(social, 'github', { email: person.email, id: Date.now() });
      const asked = { exchange: 'true' };
      const { fragment } = await social.signIn('github', person.tenantId, PAGE, asked);
      leave(person, { login: { ...person, access: fragment['token'] ?? '' } });
      const body = { code: fragment['code'] };
      return async () => (await fixture.rest.post(`${AUTH}/social/exchange`, body)).status === 200;
    },
  },
};

/** A browser and a client at the authorization server. Identity's issuer is its own address. */
import { createHash, randomBytes } from 'node:crypto';
import { tcpProxy } from '@cardea/testing';
import * as openid from 'openid-client';
import { expect } from 'vitest';
import {
  type Account,
  type IdentityFixture,
  identityFixture,
  type OfFile,
  ofFile,
  PASSWORD,
} from './identity-fixture.ts';

export type OAuthFixture = IdentityFixture & { readonly issuer: string };
/** The parts of a running service that a flow needs. */
export type OAuthParty = Pick<OAuthFixture, 'as' | 'baseUrl' | 'issuer'>;
type Somebody = Pick<Account, 'access' | 'email' | 'tenantId'>;

const REDIRECT = 'http://127.0.0.1:9/callback';

/** Requests are sent to the fixture's port. The issuer is another address, at which nothing listens. */
export async function oauthFixture(
  databaseUrl: string,
  env: { readonly [name: string]: string } = {},
  drivers: Parameters<typeof identityFixture>[3] = {},
): Promise<OAuthFixture> {
  const { ISSUER: issuer = 'http://127.0.0.1:65530' } = env;
  const settings = { RATE_LIMIT_FACTOR: '1000', ISSUER: issuer, ...env };
  const fixture = await identityFixture(databaseUrl, settings, undefined, drivers);
  return { ...fixture, issuer };
}

export const oauthOfFile = (env: { readonly [name: string]: string } = {}): OfFile<OAuthFixture> =>
  ofFile((databaseUrl) => oauthFixture(databaseUrl, env));

/** Used by clients that need the real address. The issuer is reachable. */
export async function reachableFixture(databaseUrl: string): Promise<OAuthFixture> {
  const to = { port: 0 };
  const proxy = await tcpProxy(to);
  const issuer = `http://127.0.0.1:${proxy.port}`;
  const fixture = await oauthFixture(databaseUrl, { ISSUER: issuer });
  to.port = Number(new URL(fixture.baseUrl).port);
  return {
    ...fixture,
    stop: async () => {
      await proxy.close();
      await fixture.stop();
    },
  };
}

export type TestClient = {
  readonly id: string;
  readonly client_id: string;
  readonly client_secret?: string;
};

export async function application(
  { as }: Pick<OAuthParty, 'as'>,
  admin: Somebody,
  body: object = {},
): Promise<TestClient> {
  const fields = { name: 'Shop', type: 'spa', redirect_uris: [REDIRECT] };
  const made = await as(admin).post('/api/v1/admin/applications', { ...fields, ...body });
  expect(made.text).toContain('client_id');
  return made.body;
}

/** The rules that browsers enforce for `__Host-` cookies, applied to all our cookies. */
const COOKIE_OVER_TLS = /^(?=.*; secure)(?!__Host-(?!.*; path=\/(;|$)))(?!__Host-.*; domain=)/i;

/** Keeps cookies by path, and follows no redirect on its own. */
export function browser({ baseUrl, issuer }: Omit<OAuthParty, 'as'>) {
  // The key includes the path, because each flow has its own cookies.
  const jar = new Map<string, { name: string; value: string; path: string }>();
  const call = async (
    method: string,
    to: string,
    given: { form?: object; json?: object; headers?: object } = {},
  ) => {
    const url = new URL(to, baseUrl);
    const cookies = [...jar.values()]
      .filter(({ path }) => url.pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`);
    const body =
      given.json !== undefined
        ? JSON.stringify(given.json)
        : given.form === undefined
          ? undefined
          : new URLSearchParams(given.form as Record<string, string>).toString();
    const type =
      given.json !== undefined ? 'application/json' : 'application/x-www-form-urlencoded';
    const answer = await fetch(new URL(url.pathname + url.search, baseUrl), {
      method,
      redirect: 'manual',
      headers: {
        accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
        cookie: cookies.join('; '),
        ...(method === 'POST' ? { origin: issuer } : {}),
        ...(body === undefined ? {} : { 'content-type': type }),
        ...given.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    for (const line of answer.headers.getSetCookie()) {
      if (url.protocol === 'https:') expect(line).toMatch(COOKIE_OVER_TLS);
      const [pair = '', ...attributes] = line.split('; ');
      const at = pair.indexOf('=');
      const path = attributes.find((each) => each.startsWith('path='))?.slice(5) ?? '/';
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      const key = `${name} ${path}`;
      if (value === '' || line.includes('Thu, 01 Jan 1970')) jar.delete(key);
      else jar.set(key, { name, value, path });
    }
    const text = await answer.text();
    const isJson = (answer.headers.get('content-type') ?? '').includes('json');
    return {
      status: answer.status,
      headers: answer.headers,
      location: answer.headers.get('location') ?? '',
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  };
  const json = { accept: 'application/json' };
  return {
    jar,
    get: (to: string, headers: object = {}) => call('GET', to, { headers }),
    post: (to: string, body: object = {}, headers: object = {}) =>
      call('POST', to, { json: body, headers: { ...json, ...headers } }),
    form: (to: string, form: object = {}, headers: object = {}) =>
      call('POST', to, { form, headers }),
  };
}
export type Browser = ReturnType<typeof browser>;

export const pkce = () => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};

export const authorizeUrl = (client: TestClient, more: { [name: string]: string } = {}) => {
  const query = new URLSearchParams({
    client_id: client.client_id,
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'openid profile email',
    state: 'the-state',
    code_challenge_method: 'S256',
    ...more,
  });
  return `/oauth2/authorize?${query}`;
};

const fixtureUrl = 'http://127.0.0.1';

/** Completes all pages until the browser is redirected to the application. */
export async function signIn(
  page: Browser,
  to: string,
  of: {
    readonly account: Pick<Account, 'email'>;
    readonly scopes?: readonly string[];
    readonly password?: string;
    /** The application's redirect URI, if it is not one of the fixture's. */
    readonly redirect?: string;
  },
): Promise<URL> {
  const { redirect = REDIRECT } = of;
  let answer = await page.get(to);
  for (let step = 0; step < 8; step += 1) {
    if (answer.status !== 303 && answer.status !== 302) {
      throw new Error(`${answer.status} ${answer.text}`);
    }
    const { location } = answer;
    if (location.startsWith(redirect)) return new URL(location);
    if (!location.includes('/oauth2/interaction/')) {
      answer = await page.get(location);
      continue;
    }
    const shown = await page.get(location, { accept: 'application/json' });
    const path = new URL(location, fixtureUrl).pathname;
    const { email } = of.account;
    const done =
      shown.body.prompt === 'login'
        ? await page.post(`${path}/login`, { email, password: of.password ?? PASSWORD })
        : await page.post(`${path}/consent`, of.scopes === undefined ? {} : { scopes: of.scopes });
    if (done.status !== 200) throw new Error(`${done.status} ${done.text}`);
    answer = await page.get(done.body.redirect_to);
  }
  throw new Error('the sign-in does not end');
}

export const token = async (
  { baseUrl }: Pick<OAuthParty, 'baseUrl'>,
  form: object,
  headers: object = {},
) => {
  const answer = await fetch(`${baseUrl}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(form as Record<string, string>),
    headers: headers as Record<string, string>,
  });
  // biome-ignore lint/suspicious/noExplicitAny: as in the REST driver, tests reach into bodies.
  return { status: answer.status, body: (await answer.json()) as any };
};

/** Performs a whole flow and returns its tokens. */
export async function authorized(
  fixture: OAuthParty,
  of: {
    readonly client: TestClient;
    readonly account: Pick<Account, 'email'>;
    readonly page?: Browser;
    readonly more?: { [name: string]: string };
    readonly scopes?: readonly string[];
    readonly password?: string;
  },
) {
  const { verifier, challenge } = pkce();
  const page = of.page ?? browser(fixture);
  const url = authorizeUrl(of.client, { code_challenge: challenge, ...of.more });
  const back = await signIn(page, url, of);
  const code = back.searchParams.get('code') ?? '';
  expect(back.href).toContain('code=');
  const { client_id, client_secret } = of.client;
  const exchange = {
    ...{ grant_type: 'authorization_code', code, redirect_uri: REDIRECT, client_id },
    code_verifier: verifier,
    ...(client_secret === undefined ? {} : { client_secret }),
  };
  const answer = await token(fixture, exchange);
  expect(answer).toMatchObject({ status: 200 });
  return { ...answer.body, exchange, back, page };
}

export { REDIRECT };

/** Calls that tests repeat, bound to the fixture that exists when they run. */
export const oauthCalls = (fixture: () => OAuthFixture) => ({
  introspect: async (text: string) =>
    (await fixture().rest.post('/oauth2/introspect', { token: text })).body,
  refresh: (client: TestClient, refresh_token: string, more: object = {}) => {
    const { client_id, client_secret } = client;
    const secret = client_secret === undefined ? {} : { client_secret };
    return token(fixture(), {
      grant_type: 'refresh_token',
      client_id,
      refresh_token,
      ...secret,
      ...more,
    });
  },
  authorize: (client: TestClient, more: { [name: string]: string } = {}) =>
    authorizeUrl(client, { code_challenge: pkce().challenge, ...more }),
});

type Spied = {
  /** Called with each body that is sent. */
  readonly said?: (body: string) => void;
  /** If set, requests with a body are not sent; only `said` is called. */
  readonly isMute?: boolean;
};

/** Routes the issuer's address to the fixture. */
export const fetchOf =
  ({ baseUrl, issuer }: OAuthFixture, { said, isMute }: Spied = {}) =>
  async (url: string | URL, options?: object): Promise<Response> => {
    const body = String((options as RequestInit | undefined)?.body ?? '');
    if (body !== '') said?.(body);
    if (isMute === true && body !== '') return new Response('{}', { status: 400 });
    return fetch(String(url).replace(issuer, baseUrl), options as RequestInit);
  };

/** An application that uses `openid-client`. */
export const clientOf = (
  fixture: OAuthFixture,
  clientId: string,
  authentication: openid.ClientAuth,
  spied: Spied = {},
): Promise<openid.Configuration> =>
  openid.discovery(new URL(fixture.issuer), clientId, undefined, authentication, {
    execute: fixture.issuer.startsWith('https:') ? [] : [openid.allowInsecureRequests],
    [openid.customFetch]: fetchOf(fixture, spied),
  });

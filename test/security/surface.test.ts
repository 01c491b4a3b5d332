/** Tests what the product reveals of itself: the routes that it documents, and the headers of every answer. */
import type { ErrorBody } from '@cardea/contracts';
import { catalogue, healthEndpoints } from '@cardea/http';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testCallers } from './callers.ts';
import { catalogueOf, successOf } from './catalogue.ts';
import { type Fortress, fortress } from './fortress.ts';
import { pathOf, send, titleOf } from './sample.ts';

const database = testDatabase();
let world: Fortress;
beforeAll(async () => {
  world = await fortress({ databaseUrl: database.url });
});
afterAll(async () => {
  await world?.stop();
});

type Documented = { readonly [path: string]: { readonly [method: string]: object } };
const documented = async (): Promise<Documented> =>
  (await world.rest.get('/openapi.json')).body.paths;

/** Paths of the document with every parameter filled in, each with its methods. */
const routesOf = (paths: Documented) =>
  Object.entries(paths).map(([path, methods]) => ({
    path,
    url: `${world.baseUrl}${path.replaceAll(/\{\w+\}/g, 'x')}`,
    methods: Object.keys(methods).map((method) => method.toUpperCase()),
  }));

it('S21 the document names the endpoints that there are, but for pages, and no other', async () => {
  const { clock, cache, database: of } = world.shared;
  const health = healthEndpoints({ version: '0', clock, cache, database: of });
  const expected = catalogue([...world.host.endpoints, ...health])
    .filter(({ contract }) => contract.audience !== 'page')
    .map(({ title }) => title);
  const titles = routesOf(await documented()).flatMap(({ path, methods }) =>
    methods.map((method) => `${method} ${path}`),
  );
  expect(titles.sort()).toEqual(expected.toSorted());
});

it('S21 each path of the document takes the methods that it names, and no other', async () => {
  for (const { path, url, methods } of routesOf(await documented())) {
    const { status, headers } = await fetch(url, { method: 'OPTIONS' });
    const allowed = (headers.get('allow') ?? '').split(', ').filter((each) => each !== 'HEAD');
    expect({ path, status, allowed: allowed.sort() }).toEqual({
      path,
      status: 405,
      allowed: methods.sort(),
    });
  }
});

const NOT_THERE = [
  ['GET', '/api/v1/audit'],
  ['GET', '/api/v1/audit/0197f0f0-0000-7000-8000-000000000001'],
  ['GET', '/api/v1/audit/events/0197f0f0-0000-7000-8000-000000000001'],
  ['POST', '/api/v1/ciba/authorize'],
  ['POST', '/api/v1/ciba/approve/x'],
  ['POST', '/api/v1/ciba/deny/x'],
  ['POST', '/api/v1/auth/logout'],
  ['GET', '/internal/introspect'],
  ['POST', '/internal/approvals'],
  ['GET', '/metrics'],
  ['GET', '/readyz'],
  ['GET', '/api/v1/me/sessions/'],
  ['GET', '/API/V1/auth/me'],
  ['GET', '/api//v1/auth/me'],
  ['GET', '/api/v1/x/..%2fauth/me'],
  ['GET', '/.env'],
] as const;

it.each(NOT_THERE)(
  'S21 %s %s is not there, not even for an administrator',
  async (method, path) => {
    const { owner } = world.a;
    for (const bearer of [undefined, owner.access]) {
      const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
      const answer = await fetch(`${world.baseUrl}${path}`, {
        method,
        headers: { ...authorization, 'x-service-tenant': owner.tenantId },
      });
      expect(answer.status).toBe(404);
      expect(((await answer.json()) as ErrorBody).error.code).toBe('not_found');
    }
  },
);

it('S21 nothing is offered that is not built', async () => {
  const { body } = await world.rest.post('/api/v1/auth/identify', {
    publishable_key: world.a.publishableKey,
  });
  const { password, passkeys, magic_link, otp, mfa_policy: _, ...others } = body.auth_methods;
  expect([password, passkeys, magic_link, otp]).toEqual([true, true, true, true]);
  expect(Object.values(others)).not.toContain(true);
});

/** Fields that contain a credential. */
const SECRET_FIELD = /"(access_token|refresh_token|agent_token|capability_token|key|secret)":"/;

it('S20 every answer is dressed the same, and none that asks who calls may be kept', async () => {
  const wrong: string[] = [];
  for (const entry of catalogueOf(world)) {
    const { endpoint, sample } = entry;
    const { contract } = endpoint;
    const tenant = world.a.tenantId;
    const as = testCallers(world).find(({ name }) => name === sample.by);
    const ask = await sample.ask(world);
    const answers = [
      await send(
        world,
        endpoint,
        { ...ask, query: { ...ask.query, no_such: '1' } },
        { as, tenant },
      ),
      await send(world, endpoint, ask, { tenant: 'nobody' }),
      await send(world, endpoint, ask, { as, tenant }),
    ];
    expect({ of: titleOf(endpoint), status: answers.at(-1)?.status }).toEqual({
      of: titleOf(endpoint),
      status: successOf(entry),
    });
    for (const { headers, status, text } of answers) {
      const faults = faultsOf(headers, { status, path: pathOf(endpoint, ask) });
      const kept = headers.get('cache-control') !== 'no-store';
      if (contract.who !== 'anyone' && kept) faults.push('no-store for whoever is known');
      if (contract.response?.isSecret === true && kept) faults.push('the contract’s no-store');
      if (SECRET_FIELD.test(text) && kept) faults.push('no-store for a secret');
      const isMade = SECRET_FIELD.test(text) && contract.who !== 'anyone';
      if (isMade && contract.who.includes('admin') && contract.response?.isSecret !== true) {
        faults.push('a secret that is shown to whoever lost the role for it');
      }
      wrong.push(...faults.map((fault) => `${titleOf(endpoint)} ${status}: ${fault}`));
    }
  }
  expect(wrong).toEqual([]);
});

it.each([
  ['/.well-known/jwks.json', /^public, max-age=\d+$/],
  ['/oauth2/jwks', /^public, max-age=\d+$/],
  ['/health', /^$/],
  ['/openapi.json', /^$/],
  ['/docs/reference.js', /^public, max-age=\d+$/],
])('S20 %s is the same for everybody and may be kept as it says itself', async (path, expected) => {
  const answer = await fetch(`${world.baseUrl}${path}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control') ?? '').toMatch(expected);
});

it('S20 a challenge names no document that is not there', async () => {
  const paths = [
    '/api/v1/auth/me',
    '/api/v1/fga/check',
    '/api/v1/audit/events',
    '/api/v1/webhooks',
  ];
  for (const path of paths) {
    const { status, headers } = await fetch(`${world.baseUrl}${path}`, {
      method: path.endsWith('check') ? 'POST' : 'GET',
    });
    expect({ path, status }).toEqual({ path, status: 401 });
    for (const [, url = ''] of (headers.get('www-authenticate') ?? '').matchAll(
      /"(https?:[^"]+)"/g,
    )) {
      const named = await fetch(`${world.baseUrl}${new URL(url).pathname}`);
      expect({ path, url, status: named.status }).toEqual({ path, url, status: 200 });
    }
  }
});

/**
 * The only cookies: they bind a mailed code, and a sign-in by a provider, to the browser that requested it,
 * and identify nobody.
 */
const COOKIES: { readonly [path: string]: RegExp } = {
  '/api/v1/auth/otp/send':
    /^__Host-otp=ch_[\w-]{64}; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Strict$/,
  // The cookie names the person who is signed in at the hosted pages, which is nobody here.
  '/oauth2/device': /^(?:__Host-)?cardea_session=[\w-]+; path=\/;[^,]*httponly/i,
  '/api/v1/auth/social/github/authorize':
    /^__Host-social-\w{8}=[\w-]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
  // The cookie's name has the prefix if the pages are served over https.
  '/account/sign-in':
    /^(?:__Host-)?pages-\w{8}=[\w-]+; Path=\/; Max-Age=600; (?:Secure; )?HttpOnly; SameSite=Lax$/,
};

function faultsOf(
  headers: Headers,
  { status, path }: { readonly status: number; readonly path: string },
): string[] {
  const faults: string[] = [];
  if (headers.get('x-content-type-options') !== 'nosniff') faults.push('nosniff');
  if (!/^max-age=\d{7,}/.test(headers.get('strict-transport-security') ?? '')) faults.push('HSTS');
  if (!/^[\w.-]{8,64}$/.test(headers.get('x-request-id') ?? '')) faults.push('X-Request-Id');
  const cookie = headers.get('set-cookie');
  if (cookie !== null && COOKIES[path]?.test(cookie) !== true) faults.push('no cookie');
  for (const telling of ['x-powered-by', 'server']) {
    if (headers.has(telling)) faults.push(`no ${telling}`);
  }
  const isOpen = path.startsWith('/.well-known/') || path === '/oauth2/jwks';
  if (headers.get('access-control-allow-origin') !== (isOpen ? '*' : null)) {
    faults.push('Access-Control-Allow-Origin');
  }
  const challenge = headers.get('www-authenticate') ?? '';
  if (status === 401 && path.startsWith('/api/v1') && !/^Bearer( |$)/.test(challenge)) {
    faults.push('WWW-Authenticate');
  }
  return faults;
}

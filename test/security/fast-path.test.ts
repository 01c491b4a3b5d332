/** Compares requests that bypass Express' router with the same ones through it. Clients cannot distinguish them. */
import { authzService } from '@cardea/authz';
import { serve } from '@cardea/http';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chance } from '../faults/chance.ts';
import { askRaw, type RawAnswer } from '../raw-http.ts';

const TENANT = 'parity';
const PAIRS = 300;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

const database = testDatabase();
let fixture: ServiceFixture;
let through: ReturnType<typeof serve>;
let ports: { readonly around: number; readonly through: number };

beforeAll(async () => {
  fixture = await serviceFixture({
    databaseUrl: database.url,
    definitions: [authzService],
    env: { RATE_LIMIT_FACTOR: '1000' },
  });
  const { shared, host } = fixture;
  const { positions, identify, authenticator } = host.needsOf('authz');
  through = serve({
    services: [{ service: 'authz', endpoints: host.endpoints, positions, identify }],
    authenticator,
    name: 'authz',
    version: '0.0.0',
    clock: shared.clock,
    ids: shared.ids,
    logger: shared.log,
    issuer: fixture.settings.ISSUER,
    trustedProxies: [],
    port: 0,
    hosts: ['127.0.0.1'],
    fastPath: false,
  });
  const { port } = await through.start();
  ports = { around: host.port, through: port };
});
afterAll(async () => {
  await through?.stop();
  await fixture?.stop();
});

type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string;
};
/** A change that makes a request unusual. Several may be combined. */
type Change = (asked: Asked) => Asked;

const CHECK = '/api/v1/fga/check';
const FILTER = '/api/v1/fga/filter';
const checked = { user_type: 'user', user_id: 'ann', relation: 'viewer' };
const QUESTIONS: { readonly [path: string]: object } = {
  [CHECK]: { ...checked, object_type: 'document', object_id: 'd' },
  [FILTER]: { ...checked, object_type: 'document', object_ids: ['d', 'e', 'd'] },
};

const header =
  (line: string): Change =>
  (asked) => ({ ...asked, headers: [...asked.headers, line] });
const without =
  (name: string): Change =>
  (asked) => ({
    ...asked,
    headers: asked.headers.filter((line) => !line.toLowerCase().startsWith(`${name}:`)),
  });
const instead =
  (name: string, value: string): Change =>
  (asked) =>
    header(`${name}: ${value}`)(without(name)(asked));
const method =
  (name: string): Change =>
  (asked) => ({ ...asked, method: name });
const path =
  (changed: (before: string) => string): Change =>
  (asked) => ({ ...asked, path: changed(asked.path) });
const text =
  (body: string): Change =>
  (asked) => ({ ...asked, body });
const fields =
  (more: object): Change =>
  (asked) => ({ ...asked, body: JSON.stringify({ ...QUESTIONS[asked.path], ...more }) });
const bearer = (credential: string): Change => instead('authorization', `Bearer ${credential}`);

function changes(): readonly Change[] {
  const { tokens } = fixture;
  const user = { tenantId: TENANT, id: 'u' };
  return [
    (asked) => asked,
    // Changes of the question.
    fields({ user_id: 'bob' }),
    fields({ relation: 'editor' }),
    fields({ relation: 'member' }),
    fields({ on_behalf_of: { user_type: 'user', user_id: 'bob' } }),
    fields({ as_of: '2020-01-01T00:00:00Z' }),
    fields({ as_of: '2999-01-01T00:00:00Z' }),
    fields({ as_of: 'yesterday' }),
    fields({ user_id: '*' }),
    fields({ user_id: 'é\u{10000}' }),
    fields({ user_id: '' }),
    fields({ user_id: 7 }),
    fields({ user_id: 'x'.repeat(2_000) }),
    fields({ user_id: 'a\u0000b' }),
    fields({ object_type: undefined }),
    fields({ object_ids: [] }),
    fields({ object_ids: ['d', 7] }),
    fields({ object_id: 'e', object_ids: ['e'] }),
    fields({ unknown: true }),
    fields({ relation: 'boss' }),
    text(''),
    text('{'),
    text('null'),
    text('[]'),
    text('\ufeff{}'),
    text('{"user_type":"user","user_type":"user"}'),
    text('{"__proto__":{}}'),
    text(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`),
    text(`{"user_id":"${'x'.repeat(300_000)}"}`),
    // Changes of the caller.
    without('authorization'),
    instead('authorization', 'Basic YTpi'),
    bearer('no-token'),
    bearer(tokens.apiKey({ tenantId: TENANT, scopes: ['fga:read'] })),
    bearer(tokens.apiKey({ tenantId: TENANT, scopes: ['fga:write'] })),
    bearer(tokens.apiKey({ tenantId: 'another', scopes: ['fga:read'] })),
    bearer(tokens.user(user)),
    bearer(tokens.user({ ...user, roles: ['admin'] })),
    bearer(tokens.agent({ ...user, sessionId: 's' })),
    bearer(tokens.agentKey(user).key),
    header('Authorization: Bearer twice'),
    without('x-service-tenant'),
    instead('x-service-tenant', 'another'),
    instead('x-service-tenant', ''),
    header(`X-Service-Tenant: ${TENANT}`),
    // Changes of the form.
    instead('content-type', 'application/json; charset=utf-8'),
    instead('content-type', 'application/json; charset=latin1'),
    instead('content-type', 'APPLICATION/JSON'),
    instead('content-type', 'text/plain'),
    without('content-type'),
    header('Content-Type: text/plain'),
    header('Content-Encoding: gzip'),
    header('Content-Encoding: identity'),
    header('Expect: 100-continue'),
    header('Expect: the unexpected'),
    header('X-Request-Id: of-a-client-1'),
    header('X-Service-App-Id: app'),
    header(`X-Service-App-Id: ${'x'.repeat(200)}`),
    header('X-Service-Consistency: authz-1'),
    header('X-Service-Consistency: authz-1, vault-7'),
    header('X-Service-Consistency: nonsense'),
    header('Idempotency-Key: k'),
    header('Origin: https://app.example.com'),
    header('Access-Control-Request-Method: POST'),
    header('Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'),
    header('X-Forwarded-For: 203.0.113.7'),
    header('Connection: keep-alive, close'),
    ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method),
    path((before) => `${before}?explain=true`),
    path((before) => `${before}?explain=maybe`),
    path((before) => `${before}?explain=true&explain=true`),
    path((before) => `${before}?unknown=1`),
    path((before) => `${before}?`),
    path((before) => `${before}/`),
    path((before) => before.replace('/fga', '//fga')),
    path((before) => before.replace('/fga', '/./fga')),
    path((before) => before.replace('fga', '%66ga')),
    path((before) => before.replace('fga', 'FGA')),
    path((before) => `${before};a=b`),
    path((before) => `http://x${before}`),
  ];
}

it('authz 22 check and filter are answered alike around the router and through it', async () => {
  const { oneOf } = chance();
  await tuples();
  const key = fixture.tokens.apiKey({ tenantId: TENANT, scopes: ['fga:read'] });
  const plain = (to: string): Asked => ({
    method: 'POST',
    path: to,
    headers: [
      `Authorization: Bearer ${key}`,
      `X-Service-Tenant: ${TENANT}`,
      'Content-Type: application/json',
    ],
    body: JSON.stringify(QUESTIONS[to]),
  });
  const all = changes();
  const asked = [CHECK, FILTER].flatMap((to) => [
    ...all.map((change) => change(plain(to))),
    ...Array.from({ length: PAIRS / 2 }, () => oneOf(all)(oneOf(all)(plain(to)))),
  ]);
  const statuses = new Set<number>();
  for (const each of asked) {
    const around = shown(await answerAt(ports.around, each));
    expect(shown(await answerAt(ports.through, each)), JSON.stringify(each).slice(0, 500)).toEqual(
      around,
    );
    statuses.add(around.status);
  }
  expect(asked.length).toBeGreaterThanOrEqual(300);
  expect([...statuses].toSorted()).toEqual(
    expect.arrayContaining([200, 400, 401, 403, 404, 405, 413, 415]),
  );
});

async function tuples(): Promise<void> {
  const admin = fixture.tokens.user({ tenantId: TENANT, id: 'root', roles: ['admin'] });
  const rest = fixture.rest.as({ bearer: admin, tenant: TENANT });
  const grant = { ...checked, object_type: 'document', object_id: 'd' };
  expect((await rest.post('/api/v1/fga/tuples', grant)).status).toBe(201);
  await untilTrue(async () => (await rest.post(CHECK, grant)).body.allowed === true);
}

/** Sends the bytes unchanged, with the length of the body. */
const answerAt = (port: number, { method: name, path: to, headers, body }: Asked) =>
  askRaw(port, to, {
    method: name,
    headers: [...headers, `Content-Length: ${Buffer.byteLength(body)}`],
    body: Buffer.from(body).toString(),
  });

/** The response without what differs between any two: its time, its id, the position of the log. */
function shown({ status, headers, body }: RawAnswer): RawAnswer {
  const { date: _, ...others } = headers;
  const kept = Object.entries(others).map(([name, value]) => [name, withoutMoment(value)]);
  return { status, headers: Object.fromEntries(kept), body: withoutMoment(body) };
}

const withoutMoment = (of: string): string =>
  of.replace(UUID, 'an id').replace(/authz-\d+/g, 'a position');

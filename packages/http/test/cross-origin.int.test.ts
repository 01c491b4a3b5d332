import { type AllowedOrigins, endpoint } from '@cardea/http';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpFixture, startHttpFixture } from './http-fixture.ts';
import { sample } from './sample.ts';

const OURS = 'https://app.example.com';
const THEIRS = 'https://app.example.net';
const STRANGER = 'https://evil.example.com';

/** `t1` allows one origin and `t2` another one. */
const origins: AllowedOrigins = {
  ofAny: (origin) => [OURS, THEIRS].includes(origin),
  ofTenant: (origin, tenantId) => origin === { t1: OURS, t2: THEIRS }[tenantId],
};

const common = { tag: 'Development', tenant: 'none', refusals: {} } as const;
const further = [
  endpoint(
    {
      ...common,
      name: 'metadata',
      summary: 'For every page',
      method: 'get',
      path: '/.well-known/metadata',
      who: 'anyone',
      response: { origins: 'every' },
      ok: Type.Object({}),
    },
    async () => ({ ok: {} }),
  ),
  endpoint(
    {
      ...common,
      name: 'page',
      summary: 'For its own pages',
      method: 'get',
      path: '/page',
      who: 'anyone',
      ok: Type.Object({}),
    },
    async () => ({ ok: {} }),
  ),
  endpoint(
    {
      ...common,
      name: 'identify',
      summary: 'Names its tenant in the answer alone',
      method: 'get',
      path: '/api/v1/identify',
      who: 'anyone',
      ok: Type.Object({}),
    },
    async () => ({ ok: {}, ofTenant: 't1' }),
  ),
];

let fixture: HttpFixture;
beforeAll(async () => {
  fixture = await startHttpFixture([...sample, ...further], { origins });
});
afterAll(() => fixture.stop());

const ALLOW = 'access-control-allow-origin';
const from = (origin: string, path = '/api/v1/me/notes', as: string | undefined = 'member') =>
  fixture.call('GET', path, {
    ...(as === undefined ? {} : { as }),
    tenant: null,
    headers: { origin },
  });
const preflight = (origin: string, path: string, method = 'POST') =>
  fixture.call('OPTIONS', path, {
    tenant: null,
    headers: { origin, 'access-control-request-method': method },
  });

describe('a page of another origin', () => {
  it('oauth 26 reads an answer and what is exposed of it where the tenant of its token allows it', async () => {
    const { headers } = await from(OURS);
    expect(headers.get(ALLOW)).toBe(OURS);
    expect(headers.get('vary')).toBe('Origin');
    for (const name of ['X-Request-Id', 'X-Service-Consistency', 'Retry-After', 'ETag']) {
      expect(headers.get('access-control-expose-headers')).toContain(name);
    }
    for (const other of [THEIRS, STRANGER, 'null']) {
      const refused = await from(other);
      expect([refused.status, refused.headers.get(ALLOW)]).toEqual([200, null]);
      expect(refused.headers.get('vary')).toBe('Origin');
    }
  });

  it('oauth 26 reads what is of no tenant if any tenant allows it', async () => {
    const refused = await from(THEIRS, '/api/v1/me/notes', 'nobody');
    expect([refused.status, refused.headers.get(ALLOW)]).toEqual([401, THEIRS]);
    expect((await from(STRANGER, '/api/v1/me/notes', 'nobody')).headers.get(ALLOW)).toBeNull();
    expect((await from(OURS, '/api/v1/nothing')).headers.get(ALLOW)).toBe(OURS);
  });

  it('oauth 26 reads the answer of a tenant that the body names only if that allows it', async () => {
    expect((await from(OURS, '/api/v1/identify')).headers.get(ALLOW)).toBe(OURS);
    expect((await from(THEIRS, '/api/v1/identify')).headers.get(ALLOW)).toBeNull();
  });

  it('oauth 26 reads what is for everybody, and nothing outside of the API', async () => {
    expect((await from(STRANGER, '/.well-known/metadata')).headers.get(ALLOW)).toBe('*');
    expect((await from(OURS, '/page')).headers.get(ALLOW)).toBeNull();
  });

  it('oauth 26 is never let have credentials', async () => {
    for (const origin of [OURS, THEIRS, STRANGER]) {
      const answers = [await from(origin), await preflight(origin, '/api/v1/notes')];
      for (const { headers } of answers) {
        expect(headers.get('access-control-allow-credentials')).toBeNull();
      }
    }
  });
});

describe('a preflight', () => {
  it('oauth 26 tells the methods and headers of the route', async () => {
    const { status, headers } = await preflight(OURS, '/api/v1/notes');
    expect(status).toBe(204);
    expect(headers.get(ALLOW)).toBe(OURS);
    expect(headers.get('access-control-allow-methods')).toBe('POST, GET, HEAD');
    expect(headers.get('access-control-allow-headers')).toBe(
      'Authorization, DPoP, Content-Type, X-Service-Tenant, Idempotency-Key, X-Service-App-Id, X-Service-Consistency, traceparent, tracestate, baggage, b3, sentry-trace',
    );
    expect(headers.get('access-control-max-age')).toBe('600');
    const reading = await preflight(OURS, '/api/v1/notes', 'GET');
    expect(reading.headers.get('access-control-allow-headers')).not.toContain('Idempotency-Key');
  });

  it('oauth 26 is answered for the origins of all tenants, and lets no other in', async () => {
    const path = '/api/v1/notes/n1/approve';
    expect((await preflight(THEIRS, path)).headers.get(ALLOW)).toBe(THEIRS);
    for (const [origin, to, method] of [
      [STRANGER, path, 'POST'],
      ['null', path, 'POST'],
      [OURS, path, 'DELETE'],
      [OURS, '/page', 'GET'],
    ] as const) {
      const { status, headers } = await preflight(origin, to, method);
      expect([status, headers.get('access-control-allow-methods')]).toEqual([204, null]);
    }
    expect((await preflight(STRANGER, '/.well-known/metadata', 'GET')).headers.get(ALLOW)).toBe(
      '*',
    );
  });

  it('is none without an origin or a method', async () => {
    const answer = await fixture.call('OPTIONS', '/api/v1/notes', { headers: { origin: OURS } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, GET, HEAD']);
  });
});

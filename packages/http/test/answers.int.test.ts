import { documentEndpoints, endpoint, healthEndpoints, openApi } from '@cardea/http';
import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clock, type HttpFixture, startHttpFixture } from './http-fixture.ts';
import { sample } from './sample.ts';

const away = { ping: () => Promise.reject(new Error('away')) };
const version = '1.2.3';
const health = healthEndpoints({
  version,
  clock,
  database: away,
  cache: { mode: 'in_process', ping: async () => {} },
});
const documented = [...sample, ...health];
const publicUrl = 'https://id.example.com';

let fixture: HttpFixture;
beforeAll(async () => {
  const documents = documentEndpoints({
    ...{ endpoints: documented, version, publicUrl },
    isDevelopment: true,
  });
  fixture = await startHttpFixture([...documented, ...documents], {
    issuer: publicUrl,
    trustedProxies: ['127.0.0.1'],
  });
});
afterAll(() => fixture.stop());
beforeEach(() => {
  fixture.denials.length = 0;
  fixture.waits.length = 0;
  fixture.level = true;
});

const notes = '/api/v1/notes';
const make = (json: object, headers: { [name: string]: string } = {}) =>
  fixture.call('POST', notes, { as: 'member', json, headers });

describe('every answer', () => {
  it('S20 carries the headers of its deployment and nothing of the software', async () => {
    const { headers } = await make({ text: 'x' });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('etag')).toBeNull();
    expect(headers.get('x-served-by')).toBe('approval');
  });
  it('S20 is not stored where it asks who calls, refusals too', async () => {
    const own = await fixture.call('GET', '/api/v1/me/notes', { as: 'member', tenant: null });
    const none = await fixture.call('GET', '/api/v1/me/notes');
    const secret = await fixture.call('POST', '/api/v1/tokens');
    const open = await fixture.call('GET', '/health', { tenant: null });
    expect([own, none, secret, open].map(({ headers }) => headers.get('cache-control'))).toEqual([
      'no-store',
      'no-store',
      'no-store',
      null,
    ]);
    expect(own.body).toEqual({ seen: 't1' });
  });
  it('oauth 19 says with a 401 where tokens come from, and what the endpoint says itself', async () => {
    const challenge = async (path: string, as?: string) =>
      (await fixture.call('POST', path, as === undefined ? {} : { as })).headers.get(
        'www-authenticate',
      );
    const metadata = `resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/api"`;
    expect(await challenge(notes)).toBe(`Bearer ${metadata}`);
    expect(await challenge(`${notes}/stale/approve`, 'member')).toBe(
      `Bearer error="insufficient_user_authentication", ${metadata}`,
    );
  });
  it('says with a 401 that a token is bound to a key, and takes it with a proof of this request [oauth 39]', async () => {
    const member = { kind: 'api_key', id: 'k1', tenantId: 't1', scopes: [] } as const;
    const bound = await startHttpFixture([...sample], {
      issuer: publicUrl,
      authenticator: {
        authenticate: (_token, _ip, _connection, possession) => {
          if (possession === undefined) return { kind: 'unproven', error: 'invalid_token' };
          const { proof, method, path } = possession;
          return proof === `${method} ${path}`
            ? { ...member, environment: 'live', appId: null }
            : { kind: 'unproven', error: 'invalid_dpop_proof' };
        },
        confirm: async (principal) => principal,
        capability: async () => ({ bad: 'invalid' }),
      },
    });
    const by = (headers: { [name: string]: string }) =>
      bound.call('POST', `${notes}?a=b`, { headers });
    const says = (error: string) =>
      `DPoP error="${error}", algs="ES256 EdDSA Ed25519 RS256 PS256", resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/api"`;
    try {
      const asBearer = await by({ authorization: 'Bearer t' });
      expect([asBearer.status, asBearer.body.error.code]).toEqual([401, 'unauthenticated']);
      expect(asBearer.headers.get('www-authenticate')).toBe(says('invalid_token'));
      for (const headers of [{}, { dpop: 'other' }]) {
        const refused = await by({ authorization: 'dpop t', ...headers });
        expect(refused.status).toBe(401);
        expect(refused.headers.get('www-authenticate')).toBe(says('invalid_dpop_proof'));
      }
      const proven = await by({ authorization: 'DPoP t', dpop: `POST ${notes}` });
      expect(proven.status).toBe(403);
    } finally {
      await bound.stop();
    }
  });
  it('says nothing of a crash but its request id, and when to come back', async () => {
    const crash = await make({ text: 'crash' });
    expect(crash.text).not.toContain('secret-in-message');
    expect(Object.keys(crash.body.error)).toEqual(['code', 'message', 'request_id']);
    expect((await make({ text: 'away' })).headers.get('retry-after')).toBe('1');
  });
  it('names field and rule, never what was sent', async () => {
    const { body, text } = await make({ text: '', canary: 'canary' });
    const fields = body.error.details.map(({ field }: { field: string }) => field);
    expect(fields.toSorted()).toEqual(['body', 'text']);
    expect(text).not.toContain('canary');
  });
  it('takes request id and address from a trusted proxy', async () => {
    const answer = await fixture.call('GET', notes, {
      as: 'admin',
      headers: {
        'x-request-id': 'abcdef0123456789',
        'x-forwarded-for': '9.9.9.9, 1.2.3.4',
        'x-service-app-id': 'app1',
      },
    });
    expect(answer.headers.get('x-request-id')).toBe('abcdef0123456789');
    expect(answer.body.seen).toMatchObject({ ip: '1.2.3.4', appId: 'app1', query: { limit: 50 } });
  });
});

describe('a repeated request', () => {
  it('is one command per caller, operation and key', async () => {
    const id = async (key: string | undefined, text = 'x', as = 'member') => {
      const headers = key === undefined ? {} : { 'idempotency-key': key };
      const { body } = await fixture.call('POST', notes, { as, json: { text }, headers });
      return body.seen;
    };
    const [first, again, other, edited, fresh] = [
      await id('k1'),
      await id('k1'),
      await id('k2'),
      await id('k1', 'y'),
      await id(undefined),
    ];
    expect(again).toEqual(first);
    expect(other.commandId).not.toBe(first.commandId);
    expect(edited.commandId).toBe(first.commandId);
    expect(edited.idempotency.bodyHash).not.toBe(first.idempotency.bodyHash);
    expect(fresh.idempotency).toBeUndefined();
    expect((await id('k1', 'x', 'admin')).commandId).not.toBe(first.commandId);
  });
});

describe("reading one's own writes", () => {
  it('R24 waits for the named projections and hands out a token', async () => {
    const { headers } = await make({ text: 'x' });
    expect(headers.get('x-service-consistency')).toBe('approval-7');
    expect(fixture.waits).toEqual([{ projections: ['notes'], position: 7n }]);
  });
  it('R24 answers a write though its projection is late', async () => {
    fixture.level = false;
    expect((await make({ text: 'x' })).status).toBe(201);
  });
  it('R24 waits for a sent token of this log, and says when it is not there yet', async () => {
    const read = (token: string) =>
      fixture.call('GET', notes, { as: 'admin', headers: { 'x-service-consistency': token } });
    expect((await read('approval-9,authz-1')).status).toBe(200);
    expect(fixture.waits).toEqual([{ projections: ['notes'], position: 9n }]);
    expect((await read('authz-99')).status).toBe(200);
    expect(fixture.waits).toHaveLength(1);
    fixture.level = false;
    const late = await read('approval-10');
    expect([late.status, late.body.error.code]).toEqual([503, 'not_caught_up']);
  });
});

describe('a refusal', () => {
  it('is recorded with who, what and why, under the tenant of the credential', async () => {
    await fixture.call('POST', notes, { as: 'foreign', tenant: 't1', json: { text: 'x' } });
    await make({ text: 'taken' });
    await fixture.call('POST', notes, { json: { text: 'x' } });
    await make({});
    expect(
      fixture.denials.map(({ operation, reason, status, target, request }) => ({
        operation,
        reason,
        status,
        target,
        tenant: request.tenantId,
      })),
    ).toEqual([
      {
        operation: 'create_note',
        reason: 'tenant_mismatch',
        status: 403,
        target: null,
        tenant: 't2',
      },
      {
        operation: 'create_note',
        reason: 'note_taken',
        status: 409,
        target: { type: 'note', id: 'n1' },
        tenant: 't1',
      },
    ]);
  });
});

describe('health', () => {
  it('says what answers', async () => {
    expect((await fixture.call('GET', '/health', { tenant: null })).body).toEqual({
      status: 'ok',
      version,
    });
    const db = await fixture.call('GET', '/health/db', { tenant: null });
    expect([db.status, db.body.status, db.body.version]).toEqual([503, 'unavailable', version]);
    const cache = await fixture.call('GET', '/health/cache', { tenant: null });
    expect(cache.body).toMatchObject({ status: 'ok', mode: 'in_process', version });
  });
});

describe('the document', () => {
  it('S21 names exactly the endpoints that are served, with every code', async () => {
    const { body } = await fixture.call('GET', '/openapi.json', { tenant: null });
    expect(body).toEqual(
      JSON.parse(JSON.stringify(openApi({ endpoints: documented, version, publicUrl }))),
    );
    const titles = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method} ${path}`),
    );
    expect(titles.sort()).toEqual(
      documented.map(({ contract: c }) => `${c.method} ${c.path}`).sort(),
    );
    const taken = body.paths[notes].post.responses['409'].content['application/json'].schema;
    expect(taken).toEqual({ $ref: '#/components/schemas/NoteTakenError' });
    const { error } = body.components.schemas.NoteTakenError.properties;
    expect(error.properties.code.const).toEqual('note_taken');
    expect(Object.keys(body.paths['/api/v1/vend/{id}'].post.responses)).toEqual(
      expect.arrayContaining(['200', '400', '401', '403', '413', '415', '500', '503']),
    );
  });
  it('is shown by a page that loads nothing from elsewhere', async () => {
    const page = await fixture.call('GET', '/docs', { tenant: null });
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.text).not.toMatch(/https?:\/\//);
    const script = await fixture.call('GET', '/docs/reference.js', { tenant: null });
    expect(script.status).toBe(200);
    expect(script.text).toContain('createApiReference');
    expect((await fixture.call('GET', '/docs/start.js', { tenant: null })).text).toContain(
      '/openapi.json',
    );
  });
});

describe('two endpoints on one path and method', () => {
  it('are a mistake that ends the start', async () => {
    const twice = endpoint(
      {
        tag: 'Health',
        summary: 'x',
        name: 'x',
        method: 'get',
        path: '/health',
        who: 'anyone',
        tenant: 'none',
        ok: Type.Object({}),
        refusals: {},
      },
      async () => ({ ok: {} }),
    );
    await expect(startHttpFixture([...health, twice])).rejects.toThrow(
      'two endpoints claim GET /health',
    );
  });
});

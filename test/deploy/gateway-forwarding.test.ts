/** Tests what services receive of a request, and how often. */
import { describe, expect, it } from 'vitest';
import { askRaw, rawly } from '../raw-http.ts';
import { edgeFixture, REQUEST_ID } from './gateway-fixture.ts';
import type { Upstream } from './gateway-upstreams.ts';

const TRIES = 20;
const fixture = edgeFixture();

describe('what a client says of itself', () => {
  const FORGED = [
    'X-Request-Id: forged-by-the-client',
    'X-Forwarded-For: 203.0.113.9',
    'x-forwarded-for: 203.0.113.10',
    'X_Forwarded_For: 203.0.113.11',
    'X-Real-IP: 203.0.113.9',
    'Forwarded: for=203.0.113.9;proto=https',
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Port: 1',
  ];
  const seenHeaders = () =>
    (fixture.service.seen.at(-1)?.headers ?? []).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]);
  const named = (pattern: RegExp) => seenHeaders().filter(([name = '']) => pattern.test(name));

  it('is replaced by what the gateway knows', async () => {
    await askRaw(fixture.gateway.port, '/api/v1/auth/me', { headers: FORGED });
    expect(named(/forwarded|real|request-id/)).toEqual([
      ['x-request-id', expect.stringMatching(REQUEST_ID)],
      ['x-forwarded-for', '127.0.0.1'],
    ]);
  });

  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['10.9.9.9, 203.0.113.9', '203.0.113.9'],
    ['10.9.9.9, 203.0.113.9, 127.0.0.7', '203.0.113.9'],
    ['nonsense', '127.0.0.1'],
  ])('counts as far as trusted proxies said it: %s', async (said, believed) => {
    const headers = [
      ...FORGED.filter((line) => !/^x-forwarded-for/i.test(line)),
      `X-Forwarded-For: ${said}`,
    ];
    await askRaw(fixture.behindProxy.port, '/api/v1/auth/me', { headers });
    expect(named(/forwarded|real|request-id/)).toEqual([
      ['x-request-id', expect.stringMatching(REQUEST_ID)],
      ['x-forwarded-for', believed],
    ]);
  });

  it('about the connection ends at the gateway', async () => {
    const lines = [
      'GET /api/v1/auth/me HTTP/1.1',
      'Host: api.example.com',
      'Connection: close, X-Service-Tenant',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: keep-alive',
      'Proxy-Authorization: Basic eA==',
      'TE: trailers',
      'Trailer: X-A',
      'Upgrade: websocket',
      'X-Service-Tenant: t1',
    ];
    await rawly(fixture.gateway.port, `${lines.join('\r\n')}\r\n\r\n`);
    const names = seenHeaders().map(([name]) => name);
    expect(names.toSorted()).toEqual([
      'host',
      'x-forwarded-for',
      'x-request-id',
      'x-service-tenant',
    ]);
    expect(seenHeaders()).toContainEqual(['host', 'api.example.com']);
  });

  it('else goes through as it came', async () => {
    const lines = [
      'Authorization: Bearer a.b.c',
      'Idempotency-Key: k',
      'X-Service-Tenant: t1',
      'X-Service-Tenant: t2',
      `traceparent: 00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    ];
    await askRaw(fixture.gateway.port, '/api/v1/auth/me', { headers: lines });
    expect(
      named(/^(authorization|idempotency|x-service|traceparent)/).map((pair) => pair.join(': ')),
    ).toEqual(lines.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase())));
  });
});

describe('a replica that fails', () => {
  const count = (upstream: Upstream, method: string) =>
    upstream.seen.filter((each) => each.method === method).length;

  it('costs no GET: the other one is asked', async () => {
    for (let n = 0; n < TRIES; n += 1) {
      expect((await askRaw(fixture.gateway.port, '/api/v1/fga/tuples')).status).toBe(200);
    }
    expect(count(fixture.service, 'GET')).toBe(TRIES);
    expect(count(fixture.dead, 'GET')).toBeGreaterThan(0);
  });

  it.each(['POST', 'PATCH'])('gets a %s once, and nobody gets it again', async (method) => {
    const statuses: number[] = [];
    for (let n = 0; n < TRIES; n += 1) {
      const more = { method, headers: ['Content-Length: 2'], body: '{}' };
      statuses.push((await askRaw(fixture.gateway.port, '/api/v1/fga/check', more)).status);
    }
    const failed = statuses.filter((status) => status === 502).length;
    expect(count(fixture.dead, method)).toBe(failed);
    expect(count(fixture.service, method)).toBe(TRIES - failed);
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThan(TRIES);
  });

  it('takes no connection: then a POST goes to the other one, for nobody saw it', async () => {
    for (let n = 0; n < TRIES; n += 1) {
      const more = { method: 'POST', headers: ['Content-Length: 2'], body: '{}' };
      expect((await askRaw(fixture.gateway.port, '/api/v1/webhooks', more)).status).toBe(200);
    }
    expect(count(fixture.service, 'POST')).toBe(TRIES);
  });
});

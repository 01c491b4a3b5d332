/** Tests the gateway's own responses: for a service that does not answer, and for bytes that are no request. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askRaw, rawly, readAnswer } from '../raw-http.ts';
import { edgeFixture, faultsOf } from './gateway-fixture.ts';

const BODY_MAX = 256 * 1024;
const fixture = edgeFixture();

describe('O5 what no service answers', () => {
  const LOGIN = '/api/v1/auth/login';
  const VEND = '/api/v1/agent/sessions/s/credentials';
  const sized = (bytes: number) => ({
    method: 'POST',
    headers: [`Content-Length: ${bytes}`],
    body: 'x'.repeat(bytes),
  });

  it('is a body that is too large', async () => {
    expect((await askRaw(fixture.gateway.port, LOGIN, sized(BODY_MAX))).status).toBe(200);
    const answer = await askRaw(fixture.gateway.port, LOGIN, sized(BODY_MAX + 1));
    expect(faultsOf(answer, 413, 'body_too_large')).toEqual([]);
    expect(fixture.service.seen.map(({ bodyBytes }) => bodyBytes)).toEqual([BODY_MAX]);
  });

  it('is a body whose chunks become too large', async () => {
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const headers = ['Transfer-Encoding: chunked'];
    const body = `${chunk.repeat(9)}0\r\n\r\n`;
    const answer = await askRaw(fixture.gateway.port, LOGIN, { method: 'POST', headers, body });
    expect(faultsOf(answer, 413, 'body_too_large')).toEqual([]);
    expect(fixture.service.seen).toEqual([]);
  });

  it('spells its code as the document of the endpoint does', async () => {
    const large = await askRaw(fixture.gateway.port, VEND, sized(BODY_MAX + 1));
    expect(faultsOf(large, 413, 'BODY_TOO_LARGE')).toEqual([]);
    const away = await askRaw(fixture.gateway.port, VEND, sized(2));
    expect(faultsOf(away, 502, 'UPSTREAM_UNAVAILABLE')).toEqual([]);
  });

  it('is a service that is away, or breaks off', async () => {
    for (const path of ['/api/v1/vault/services', '/api/v1/audit/events']) {
      const answer = await askRaw(fixture.gateway.port, path);
      expect(faultsOf(answer, 502, 'upstream_unavailable')).toEqual([]);
      expect(answer.headers['retry-after']).toBe('1');
    }
  });

  it('is a service that does not answer in time', async () => {
    const answer = await askRaw(fixture.gateway.port, '/api/v1/ciba/pending');
    expect(faultsOf(answer, 504, 'upstream_timeout')).toEqual([]);
    expect(fixture.silent.seen).toHaveLength(1);
  });

  it('is written down without its path, which may hold a secret', async () => {
    const answer = await askRaw(fixture.gateway.port, '/api/v1/vault/services?token=geheim');
    const log = readFileSync(join(fixture.gateway.folder, 'faults.log'), 'utf8').trim().split('\n');
    const line = JSON.parse(log.at(-1) ?? '');
    expect(line).toMatchObject({ status: 502, request_id: answer.headers['x-request-id'] });
    expect(log.join('\n')).not.toMatch(/geheim|vault\/services/);
  });

  it('is a document, to be looked at only', async () => {
    for (const path of [
      '/',
      '/favicon.ico',
      '/openapi.json',
      '/asyncapi.json',
      '/docs',
      '/docs/start.js',
      '/docs/reference.js',
    ]) {
      const answer = await askRaw(fixture.gateway.port, path);
      expect([path, answer.status, answer.headers['x-content-type-options']]).toEqual([
        path,
        200,
        'nosniff',
      ]);
      expect(answer.body.length).toBe(Number(answer.headers['content-length']));
      const refused = await askRaw(fixture.gateway.port, path, {
        method: 'POST',
        headers: ['Content-Length: 0'],
      });
      expect(faultsOf(refused, 405, 'method_not_allowed')).toEqual([]);
      expect(refused.headers['allow']).toBe('GET, HEAD');
    }
    const accepting = { headers: ['Accept-Encoding: gzip'] };
    const packed = await askRaw(fixture.gateway.port, '/openapi.json', accepting);
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const { headers } = await askRaw(fixture.gateway.port, '/docs');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('has no body for HEAD, and its status all the same', async () => {
    const answer = await askRaw(fixture.gateway.port, '/nowhere', { method: 'HEAD' });
    expect([answer.status, answer.body]).toEqual([404, '']);
  });
});

describe('S7 bytes that no client would send', () => {
  const head = (first: string, ...lines: readonly string[]) =>
    `${[first, ...lines].join('\r\n')}\r\n\r\n`;
  const POST = 'POST /api/v1/auth/login HTTP/1.1';
  it.each([
    ['no HTTP', 'hello there, this is none\r\n\r\n'],
    ['no host', head('GET /api/v1/auth/me HTTP/1.1', 'Connection: close')],
    [
      'length and chunks',
      `${head(POST, 'Host: x', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
    [
      'chunks and length',
      `${head(POST, 'Host: x', 'Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`,
    ],
    ['two lengths', `${head(POST, 'Host: x', 'Content-Length: 5', 'Content-Length: 6')}hello`],
    [
      'an encoding that nobody knows',
      `${head(POST, 'Host: x', 'Transfer-Encoding: tea')}0\r\n\r\n`,
    ],
    [
      'a chunk that lies',
      `${head(POST, 'Host: x', 'Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
    ],
    ['a folded header', head(POST, 'Host: x', 'X-A: b', ' c')],
    ['a space in a name', head(POST, 'Host: x', 'Content-Length : 5')],
    [
      'a line of 20 KB',
      head('GET /api/v1/auth/me HTTP/1.1', 'Host: x', `X-A: ${'x'.repeat(20_000)}`),
    ],
    [
      '100 KB of headers',
      head(
        'GET /api/v1/auth/me HTTP/1.1',
        'Host: x',
        ...Array.from({ length: 10 }, (_, at) => `X-${at}: ${'x'.repeat(10_000)}`),
      ),
    ],
    ['a path of 20 KB', head(`GET /${'x'.repeat(20_000)} HTTP/1.1`, 'Host: x')],
  ])('are answered 400 in our words: %s', async (_name, bytes) => {
    const answer = readAnswer(await rawly(fixture.gateway.port, bytes));
    expect(faultsOf(answer, 400, 'invalid_request')).toEqual([]);
    expect(fixture.service.seen).toEqual([]);
  });

  it('are a method that shows what proxies add', async () => {
    const answer = await askRaw(fixture.gateway.port, '/api/v1/auth/me', { method: 'TRACE' });
    expect(faultsOf(answer, 405, 'method_not_allowed')).toEqual([]);
  });

  it('are answered in their order when they come in one packet', async () => {
    const one = (n: number, ...lines: readonly string[]) =>
      head(`GET /api/v1/auth/me?n=${n} HTTP/1.1`, 'Host: x', ...lines);
    const answer = await rawly(fixture.gateway.port, one(1) + one(2) + one(3, 'Connection: close'));
    expect(answer.match(/HTTP\/1.1 200 /g)).toHaveLength(3);
    expect(fixture.service.seen.map(({ url }) => url.at(-1))).toEqual(['1', '2', '3']);
  });
});

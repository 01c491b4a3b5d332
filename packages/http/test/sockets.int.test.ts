import { connect } from 'node:net';
import { management, PortTaken } from '@cardea/http';
import { loops, metrics } from '@cardea/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clock, type HttpFixture, rawly, startHttpFixture } from './http-fixture.ts';
import { poll, sample } from './sample.ts';

let fixture: HttpFixture;
beforeAll(async () => {
  fixture = await startHttpFixture();
});
afterAll(() => fixture.stop());

const head = (lines: readonly string[], request = 'POST /api/v1/open HTTP/1.1') =>
  `${[request, 'Host: x', ...lines].join('\r\n')}\r\n\r\n`;
const json = 'Content-Type: application/json';
const close = 'Connection: close';
/** What is read of a body after its request was refused. */
const LEFTOVER_MAX_BYTES = 4 * 1024 * 1024;

const statusOf = (answer: string) => answer.split('\r\n', 1)[0];
const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n') + 4));

describe('bytes that no client would send', () => {
  it.each([
    [
      '400',
      'length and chunks',
      `${head([json, 'Content-Length: 5', 'Transfer-Encoding: chunked'])}0\r\n\r\n`,
    ],
    ['400', 'two lengths', `${head([json, 'Content-Length: 5', 'Content-Length: 6'])}{"a":}`],
    ['400', 'a folded header', head([json, 'X-A: b\r\n c'])],
    ['431', 'a header of 100 KB', head([`X-A: ${'x'.repeat(100_000)}`])],
    ['400', 'no HTTP', 'hello there, this is no HTTP at all\r\n\r\n'],
    ['400', 'no host', 'GET /api/v1/open HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [
      '400',
      'an expectation that nobody knows',
      `${head([close, json, 'Expect: tea', 'Content-Length: 2'])}{}`,
    ],
    [
      '400',
      'a chunk that lies',
      `${head([close, json, 'Transfer-Encoding: chunked'])}zz\r\n{}\r\n0\r\n\r\n`,
    ],
    [
      '413',
      'chunks without an end',
      head([close, json, 'Transfer-Encoding: chunked']) +
        `50000\r\n${'x'.repeat(0x50000)}\r\n0\r\n\r\n`,
    ],
    [
      '413',
      'a length that is too long, before its body',
      head([close, json, 'Content-Length: 999999', 'Expect: 100-continue']),
    ],
    [
      '415',
      'a gzip bomb',
      `${head([close, json, 'Content-Encoding: gzip', 'Content-Length: 4'])}\x1f\x8b\x08\x00`,
    ],
    ['404', 'a way up', head([close], 'GET /api/v1/../v1/notes HTTP/1.1')],
    ['404', 'a whole URL of nothing', head([close], 'GET http://x/nowhere HTTP/1.1')],
    ['404', 'a whole URL with a way up', head([close], 'GET http://x/api/v1/../v1/notes HTTP/1.1')],
    ['401', 'a whole URL', head([close], 'GET http://x/api/v1/me/notes?limit=1 HTTP/1.1')],
    [
      '401',
      'two credentials',
      head(
        [close, 'Authorization: Bearer member', 'Authorization: Bearer admin'],
        'GET /api/v1/me/notes HTTP/1.1',
      ),
    ],
    [
      '400',
      'two tenants',
      head(
        [close, 'Authorization: Bearer member', 'X-Service-Tenant: t1', 'X-Service-Tenant: t1'],
        'GET /api/v1/me/notes HTTP/1.1',
      ),
    ],
  ])('S6 S7 are answered %s in our words: %s', async (status, _name, bytes) => {
    const answer = await rawly(fixture.port, bytes);
    expect(statusOf(answer)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(bodyOf(answer).error).toMatchObject({
      code: expect.any(String),
      request_id: expect.any(String),
    });
  });
  it('S7 are answered in their order when they come in one packet', async () => {
    const one = (text: string, last = false) => {
      const body = JSON.stringify({ text });
      return head([json, `Content-Length: ${body.length}`, ...(last ? [close] : [])]) + body;
    };
    const answer = await rawly(fixture.port, one('a') + one('b') + one('c', true));
    expect(answer.match(/HTTP\/1.1 200 /g)).toHaveLength(3);
  });
  it('S7 come slowly: half a head, half a body and nothing at all are cut in 15 s, others are served', async () => {
    const body = head([json, 'Content-Length: 100']);
    const slow = ['', 'POST /api/v1/open HT', head([json]).slice(0, -2), `${body}{"te`];
    const all = Array.from({ length: 50 }, (_, at) =>
      rawly(fixture.port, slow[at % 4] as string, 15_000),
    );
    expect((await fixture.call('POST', '/api/v1/open', { json: { text: 'x' } })).status).toBe(200);
    const statuses = new Set((await Promise.all(all)).map(statusOf));
    expect([...statuses].filter((line) => line !== '')).toEqual(['HTTP/1.1 408 Request Timeout']);
  });
  it.each([
    ['before its body', 415, 'Content-Type: text/plain'],
    ['while its body arrives', 413, json],
  ])(
    'C1 have little of an endless body read when they are refused %s',
    async (_when, status, type) => {
      const socket = connect(fixture.port, '127.0.0.1');
      let answer = '';
      socket.on('data', (data) => {
        answer += data;
      });
      socket.on('error', () => {});
      const part = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
      const send = () => {
        while (!socket.destroyed && socket.write(part));
      };
      socket.on('drain', send);
      socket.write(head([type, 'Transfer-Encoding: chunked']));
      send();
      await new Promise((resolve) => socket.once('close', resolve));
      expect(statusOf(answer)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      // Some of it was written and never read.
      expect(socket.bytesWritten).toBeLessThan(4 * LEFTOVER_MAX_BYTES);
    },
  );
  it('asks for a body only when it will be read', async () => {
    const asked = (lines: readonly string[]) => {
      const socket = connect(fixture.port, '127.0.0.1');
      socket.write(
        head(
          [close, json, 'Content-Length: 12', 'Expect: 100-continue', ...lines],
          'POST /api/v1/notes HTTP/1.1',
        ),
      );
      return new Promise<string>((resolve) =>
        socket.once('data', (data) => {
          resolve(statusOf(data.toString()) as string);
          socket.destroy();
        }),
      );
    };
    expect(await asked([])).toBe('HTTP/1.1 401 Unauthorized');
    const known = ['Authorization: Bearer member', 'X-Service-Tenant: t1'];
    expect(await asked(known)).toBe('HTTP/1.1 100 Continue');
  });
});

describe('stopping', () => {
  it('R25 answers long polls at once, cuts who hangs, and accepts nothing new', async () => {
    let isPolled = false;
    const waits = () => {
      isPolled = true;
    };
    const own = await startHttpFixture([...sample, poll(waits)], { stopWaitMs: 300 });
    const polled = own.call('GET', '/api/v1/poll');
    const hanging = connect(own.port, '127.0.0.1');
    await new Promise((done) => hanging.once('connect', done));
    hanging.write(head([json, 'Content-Length: 100']));
    const cut = new Promise((done) => hanging.once('close', done));
    hanging.on('error', () => {});
    await waitFor(async () => (await own.call('GET', '/nowhere')).status === 404 && isPolled);
    await own.stop();
    expect((await polled).body).toEqual({ seen: 'draining' });
    await cut;
    await expect(own.call('GET', '/nowhere')).rejects.toThrow();
  });
  it('names a port that is taken', async () => {
    await expect(startHttpFixture(undefined, { port: fixture.port })).rejects.toThrow(PortTaken);
  });
});

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) if (performance.now() > deadline) throw new Error('never came true');
}

describe('the management port', () => {
  it('R20 says what keeps a process from being ready', async () => {
    let monotonicMs = 0;
    let database = true;
    let silentMs = 0;
    let refused: string | undefined;
    let level: 'info' | 'debug' | 'warn' | 'error' = 'info';
    const time = { ...clock, monotonicMs: () => monotonicMs };
    const watched = loops(time);
    const relay = watched.watch('relay');
    const waitingFor: string[] = ['migrations'];
    const probes = management({
      clock: time,
      loops: watched,
      registry: metrics.registry,
      database: {
        ping: () => (database ? Promise.resolve() : Promise.reject(new Error('away'))),
        pools: () => [
          { pool: 'requests', silentMs: 0 },
          { pool: 'loops', silentMs },
        ],
      },
      refusedWrites: { reason: () => refused },
      waitingFor: () => waitingFor,
      logLevel: {
        get: () => level,
        set: (to) => {
          level = to;
        },
      },
      mayChange: (authorization) => authorization === 'Bearer ours',
      port: 0,
      host: '127.0.0.1',
    });
    const { port } = await probes.start();
    const get = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
      return { status: response.status, text: await response.text() };
    };
    try {
      expect((await get('/livez')).text).toBe('ok');
      expect(await get('/startupz')).toEqual({
        status: 503,
        text: '{"status":"starting","waiting_for":["migrations"]}',
      });
      expect((await get('/readyz')).status).toBe(503);
      waitingFor.length = 0;
      expect(JSON.parse((await get('/readyz')).text)).toMatchObject({ status: 'ready' });
      relay.degraded('kafka away');
      const degraded = await get('/readyz');
      expect([degraded.status, JSON.parse(degraded.text).checks.relay]).toEqual([
        200,
        { status: 'degraded', reason: 'kafka away' },
      ]);
      relay.degraded(undefined);
      refused = 'disk_full';
      const full = await get('/readyz');
      expect([full.status, JSON.parse(full.text).checks.writes]).toEqual([
        503,
        { status: 'failed', reason: 'disk_full' },
      ]);
      refused = undefined;
      database = false;
      monotonicMs = 5_001;
      expect(JSON.parse((await get('/readyz')).text).checks.database.status).toBe('failed');
      database = true;
      await waitFor(async () => (await get('/readyz')).status === 200);
      monotonicMs = 15_001 + 5_001;
      await waitFor(
        async () => JSON.parse((await get('/readyz')).text).checks.database.status === 'ok',
      );
      expect(JSON.parse((await get('/readyz')).text).checks.relay.reason).toBe('stopped turning');
      relay.tick();
      expect((await get('/readyz')).status).toBe(200);
      expect((await get('/metrics')).text).toContain('# HELP');
      const put = (body: string, authorization = 'Bearer ours') =>
        get('/loglevel', { method: 'PUT', body, headers: { authorization } });
      expect((await put('{"level":"debug","ttl_seconds":60}', 'Bearer other')).status).toBe(401);
      expect(level).toBe('info');
      expect((await put('{"level":"debug","ttl_seconds":60}')).status).toBe(200);
      expect(level).toBe('debug');
      expect((await put('{"level":"trace","ttl_seconds":60}')).status).toBe(400);
      expect((await put('{"level":"debug","ttl_seconds":3601}')).status).toBe(400);
      silentMs = 29_999;
      expect((await get('/livez')).status).toBe(200);
      silentMs = 30_000;
      expect(await get('/livez')).toEqual({ status: 503, text: 'no connection for loops' });
      silentMs = 0;
      expect((await get('/livez')).status).toBe(200);
      probes.drain();
      expect((await get('/readyz')).status).toBe(503);
    } finally {
      await probes.stop();
    }
  });
});

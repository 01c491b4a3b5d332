/**
 * Tests the effect of a replica that has gone away: no request that may be sent again fails, on networks of either
 * kind.
 */
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../scripts/gateway/start.ts';
import { NEXT_REPLICA_SECONDS_MAX } from '../../scripts/gateway/template.ts';
import { needNginx } from '../need-nginx.ts';
import { askRaw, readAnswer } from '../raw-http.ts';
import { dying, gone, mute, remembering, type Upstream } from './gateway-upstreams.ts';

const TRIES = 6;
/** `proxy_connect_timeout`. */
const CONNECT_MS = 1000;
const REFUSING = '127.0.0.1:1';
/** More of a body than an nginx worker keeps in memory. */
const BODY = 'x'.repeat(100_000);
const PATHS = {
  silent: '/api/v1/vault/services/s/secrets',
  unheld: '/api/v1/vault/services/s',
  refusing: '/api/v1/webhooks',
  dying: '/api/v1/fga/model',
  polls: '/api/v1/ciba/requests/r/poll',
};

const command = needNginx();
let gateway: Gateway;
let service: Upstream;
let broken: Upstream;
let mutes: readonly Upstream[] = [];
let silent: Upstream;

beforeAll(async () => {
  if (command === undefined) return;
  [service, broken, silent] = await Promise.all([remembering(), dying(), gone()]);
  mutes = await Promise.all([mute(), mute()]);
  gateway = await startGateway({
    workers: 1,
    // As in a deployment, it is longer than a request may be passed to other replicas.
    readWaitSeconds: NEXT_REPLICA_SECONDS_MAX + 1,
    upstreams: {
      identity: [],
      authz: [broken.address, service.address],
      vault: [silent.address, service.address],
      approval: mutes.map(({ address }) => address),
      webhooks: [REFUSING, service.address],
      audit: [broken.address],
    },
  });
});
beforeEach(() => {
  for (const each of [service, broken, ...mutes]) if (each) each.seen.length = 0;
});
afterAll(async () => {
  await gateway?.stop();
  for (const each of [service, broken, silent, ...mutes]) await each?.close();
});

const statuses = async (method: string, path: string): Promise<readonly number[]> => {
  const got: number[] = [];
  for (let n = 0; n < TRIES; n += 1) got.push((await ask(method, path)).status);
  return got;
};
const ask = (method: string, path: string, { port } = gateway) =>
  method === 'PUT' || method === 'POST'
    ? askInTwoParts(method, path, port)
    : askRaw(port, path, { method });

/** Sends head and body separately, as clients do. */
function askInTwoParts(
  method: string,
  path: string,
  port: number,
): Promise<{ readonly status: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let got = '';
    const head = ['Host: x', 'Connection: close', `Content-Length: ${BODY.length}`];
    socket
      .setNoDelay()
      .write(`${method} ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`, () =>
        setImmediate(() => socket.write(BODY)),
      );
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(readAnswer(got)));
  });
}

describe.each(['silent', 'refusing'] as const)('a replica that is %s', (kind) => {
  it.each(['GET', 'PUT', 'DELETE'])('costs no %s', async (method) => {
    expect(await statuses(method, PATHS[kind])).toEqual(Array(TRIES).fill(200));
    expect(service.seen.map((each) => each.method)).toEqual(Array(TRIES).fill(method));
  });

  it('costs no POST either, for nobody saw it', async () => {
    expect(await statuses('POST', PATHS[kind])).toEqual(Array(TRIES).fill(200));
    expect(service.seen.map(({ bodyBytes }) => bodyBytes)).toEqual(Array(TRIES).fill(BODY.length));
  });
});

describe('a replica that breaks off', () => {
  it.each(['GET', 'PUT', 'DELETE'])('costs no %s', async (method) => {
    expect(await statuses(method, PATHS.dying)).toEqual(Array(TRIES).fill(200));
    expect(broken.seen.length).toBeGreaterThan(0);
  });

  it('is not asked again when there is no other', async () => {
    expect((await ask('GET', '/api/v1/audit/events')).status).toBe(502);
    expect(broken.seen).toHaveLength(1);
  });
});

describe('a service that is silent for longer than each of its addresses is given', () => {
  const ALONE = { identity: [], authz: [], approval: [], webhooks: [], audit: [] };

  it.each(['GET', 'PUT', 'DELETE'])('is asked again by %s', async (method) => {
    const late = await gone();
    const alone = await startGateway({
      workers: 1,
      upstreams: { ...ALONE, vault: [late.address] },
    });
    try {
      const answer = ask(method, PATHS.silent, alone);
      // By then the gateway has given up its first connection.
      await new Promise((resolve) => setTimeout(resolve, CONNECT_MS + 200));
      late.comeBack();
      expect((await answer).status).toBe(200);
    } finally {
      await alone.stop();
      await late.close();
    }
  });

  it('is not asked again with a body that the gateway does not hold', async () => {
    const alone = await startGateway({
      workers: 1,
      upstreams: { ...ALONE, vault: [silent.address] },
    });
    const began = performance.now();
    try {
      const more = { method: 'DELETE', headers: ['Content-Length: 5'], body: '12345' };
      expect((await askRaw(alone.port, PATHS.unheld, more)).status).toBe(504);
      expect(performance.now() - began).toBeLessThan(3 * CONNECT_MS);
    } finally {
      await alone.stop();
    }
  });

  it('is said to have taken too long when it stays so', async () => {
    const alone = await startGateway({
      workers: 1,
      upstreams: { ...ALONE, vault: [silent.address] },
    });
    try {
      expect((await ask('GET', PATHS.silent, alone)).status).toBe(504);
    } finally {
      await alone.stop();
    }
  });
});

it('sends a long poll to one replica, and not to the next one when its time is up', async () => {
  expect((await askRaw(gateway.port, PATHS.polls)).status).toBe(504);
  expect(mutes.flatMap(({ seen }) => seen)).toHaveLength(1);
});

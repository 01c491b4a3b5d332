/** Clients that are slow on purpose, against nginx in front of the real request pipeline. */
import { connect } from 'node:net';
import { endpoint, serve } from '@cardea/http';
import { systemClock, systemRandom, uuidV7Ids } from '@cardea/runtime';
import { silentLogger, testForm } from '@cardea/testing';
import Type from 'typebox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../scripts/gateway/start.ts';
import { needNginx } from '../need-nginx.ts';
import { askRaw, readAnswer } from '../raw-http.ts';

const CUT_MS_MAX = 15_000;
const TRICKLE_EVERY_MS = 1_000;
const LATENESS_EVERY_MS = 50;

const command = needNginx();
const sockets = testForm.long ? 500 : 200;
const PATH = '/api/v1/auth/login';
let gateway: Gateway;
let upstream: ReturnType<typeof upstreamOf>;
beforeAll(async () => {
  if (command === undefined) return;
  upstream = upstreamOf();
  const { port } = await upstream.start();
  const none: readonly string[] = [];
  const identity = [`127.0.0.1:${port}`];
  const others = { authz: none, vault: none, approval: none, webhooks: none, audit: none };
  gateway = await startGateway({ upstreams: { identity, ...others }, workers: 1 });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const upstreamOf = () =>
  serve({
    services: [
      {
        service: 'identity',
        endpoints: [
          endpoint(
            {
              name: 'log_in',
              summary: 'Takes any text.',
              tag: 'Development',
              method: 'post',
              path: PATH,
              who: 'anyone',
              tenant: 'none',
              body: Type.Object({ text: Type.String() }),
              ok: Type.Object({}),
              refusals: {},
            },
            async () => ({ ok: {} }),
          ),
        ],
      },
    ],
    authenticator: {
      authenticate: async () => undefined,
      confirm: async () => undefined,
      capability: async () => ({ bad: 'invalid' }),
    },
    name: 'identity',
    version: '0',
    clock: systemClock,
    ids: uuidV7Ids(systemClock, systemRandom),
    logger: silentLogger,
    issuer: 'http://localhost',
    trustedProxies: ['127.0.0.1/32'],
    port: 0,
    hosts: ['127.0.0.1'],
  });

const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
const BODY = `${HEAD}Content-Length: 1000\r\n\r\n{"te`;

/** Sends `first` and then one character each second on a socket. Returns what came back, and after how long. */
function slowly(first: string, drop: string): Promise<{ got: string; ms: number }> {
  return new Promise((resolve) => {
    const began = performance.now();
    const socket = connect(gateway.port, '127.0.0.1');
    let got = '';
    const trickle = setInterval(() => drop !== '' && socket.write(drop), TRICKLE_EVERY_MS);
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(trickle);
      resolve({ got, ms: performance.now() - began });
    });
    socket.write(first);
  });
}

/** The worst delay of this process's own timers: server and clients are both in it. */
function lateness(): { stop(): number } {
  let worstMs = 0;
  let dueMs = performance.now() + LATENESS_EVERY_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    worstMs = Math.max(worstMs, nowMs - dueMs);
    dueMs = nowMs + LATENESS_EVERY_MS;
  }, LATENESS_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return worstMs;
    },
  };
}

const KINDS = [
  ['nothing at all', '', ''],
  ['half a head', HEAD.slice(0, 30), ''],
  ['a head that trickles', `${HEAD}X-A: `, 'x'],
  ['half a body', BODY, ''],
  ['a body that trickles', BODY, 'x'],
] as const;

it('S7 slow ones are cut in 15 s, and others are served meanwhile', async () => {
  const late = lateness();
  const all = Array.from({ length: sockets }, (_, at) => {
    const [name, first, drop] = KINDS[at % KINDS.length] as (typeof KINDS)[number];
    return slowly(first, drop).then((ended) => ({ name, ...ended }));
  });
  const body = '{"text":"x"}';
  const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
  const served = await askRaw(gateway.port, PATH, { method: 'POST', headers, body });
  expect(served.status).toBe(200);
  const ended = await Promise.all(all);
  // Allows for delay twice: when the server closes, and when the client notices.
  const cutMsMax = CUT_MS_MAX + 2 * late.stop();
  expect(ended.filter(({ ms }) => ms > cutMsMax)).toEqual([]);
  // A client that receives anything before the end receives the timeout's refusal.
  const heard = ended.filter(({ got }) => got !== '').map(({ got }) => readAnswer(got));
  expect(heard.filter(({ status }) => status !== 408)).toEqual([]);
  expect(heard.filter(({ body: answer }) => !answer.includes('"request_timeout"'))).toEqual([]);
});

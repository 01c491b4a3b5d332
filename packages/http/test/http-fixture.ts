/** A server with test endpoints and callers over a real socket. Tests see what it recorded and waited for. */

import { connect } from 'node:net';
import type { Principal } from '@cardea/auth';
import { type Denial, type Endpoint, type ServeOptions, serve } from '@cardea/http';
import { systemClock as clock, type Logger } from '@cardea/runtime';
import { callers, sample } from './sample.ts';

export const quiet: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => quiet,
};

export { clock };

let made = 0;
export const ids = {
  next: () => {
    made += 1;
    return `00000000-0000-7000-8000-${String(made).padStart(12, '0')}`;
  },
};

export type HttpFixture = {
  readonly port: number;
  readonly base: string;
  readonly denials: Denial[];
  readonly waits: { projections: readonly string[]; position: bigint }[];
  readonly stop: () => Promise<void>;
  readonly drain: () => void;
  /** Whether waiting for a projection succeeds. */
  level: boolean;
  /** The current state of a caller whose role is checked again. */
  confirm: (principal: Principal) => Principal | undefined;
  call(method: string, path: string, more?: Call): Promise<Answered>;
};
export type Call = {
  readonly as?: string;
  readonly tenant?: string | null;
  readonly json?: unknown;
  readonly body?: string | Buffer;
  readonly headers?: { readonly [name: string]: string };
};
export type Answered = {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server said.
  readonly body: any;
  readonly text: string;
};

export async function startHttpFixture(
  endpoints: readonly Endpoint[] = sample,
  more: Partial<ServeOptions> = {},
): Promise<HttpFixture> {
  const denials: Denial[] = [];
  const waits: HttpFixture['waits'] = [];
  const server = serve({
    services: [
      {
        service: 'approval',
        endpoints,
        identify: async (request) => {
          const { idempotency, principal } = request;
          return { ...request, commandId: `${principal?.id} ${idempotency?.key}` };
        },
        denials: {
          record: async (denial) => void denials.push(denial),
          flush: async () => {},
        },
        positions: {
          reached: async (projections, position) => {
            waits.push({ projections, position });
            return fixture.level;
          },
        },
      },
    ],
    authenticator: {
      authenticate: async (bearer) =>
        Object.hasOwn(callers, bearer) ? callers[bearer] : undefined,
      confirm: async (principal) => fixture.confirm(principal),
      capability: async () => ({ bad: 'invalid' }),
    },
    name: 'test',
    version: '0.0.0',
    clock,
    ids,
    logger: quiet,
    issuer: 'http://localhost:8080',
    trustedProxies: [],
    port: 0,
    hosts: ['127.0.0.1'],
    ...more,
  });
  const { port } = await server.start();
  const fixture: HttpFixture = {
    port,
    base: `http://127.0.0.1:${port}`,
    denials,
    waits,
    level: true,
    confirm: (principal) => principal,
    stop: server.stop,
    drain: server.drain,
    call: (method, path, call = {}) => call_(`http://127.0.0.1:${port}${path}`, method, call),
  };
  return fixture;
}

async function call_(url: string, method: string, call: Call): Promise<Answered> {
  const { as, tenant = 't1', json, body, headers } = call;
  const response = await fetch(url, {
    method,
    headers: {
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      ...(tenant === null ? {} : { 'x-service-tenant': tenant }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined
      ? body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : new Uint8Array(body) }
      : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** Sends bytes over a bare socket, for requests that no client would send. Resolves with the whole response. */
export function rawly(port: number, bytes: string | Buffer, deadlineMs = 20_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let got = '';
    const giveUp = () => {
      socket.destroy();
      reject(new Error(`still open after ${deadlineMs} ms, got ${JSON.stringify(got)}`));
    };
    // Data that arrived while this process was busy counts as in time.
    const timer = setTimeout(() => setImmediate(giveUp), deadlineMs);
    const done = () => {
      clearTimeout(timer);
      resolve(got);
    };
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
    });
    socket.on('error', done);
    socket.on('close', done);
    socket.write(bytes);
  });
}

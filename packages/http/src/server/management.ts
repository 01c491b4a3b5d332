/**
 * The management port, for orchestrators, Prometheus and operators. Readiness means that the loops make progress, not
 * only that a socket responds (`docs/design/operations.md`, Health).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock, Loops } from '@cardea/runtime';
import type { Registry } from 'prom-client';
import { readJson } from '../input/json.ts';
import type { RefusedWrites } from '../refusals/refused-writes.ts';
import { PortTaken } from './listen.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export type ManagementDependencies = {
  readonly clock: Clock;
  readonly loops: Pick<Loops, 'state'>;
  readonly registry: Registry;
  /**
   * Called before each scrape, for metrics that are not counted continuously. Resolves within a few seconds even when
   * other systems are unavailable.
   */
  readonly measure?: () => Promise<void>;
  /** The database, which is checked every second. */
  readonly database: {
    ping(): Promise<void>;
    /** The time for which callers of a pool have been waiting without getting a connection. */
    pools(): readonly { readonly pool: string; readonly silentMs: number }[];
  };
  readonly refusedWrites?: Pick<RefusedWrites, 'reason'>;
  /** The dependencies that the start waits for (`migrations`, `key canary`, a projection). Empty when started. */
  readonly waitingFor: () => readonly string[];
  /** Further reasons for `degraded` by name, e.g. an unavailable cache. */
  readonly degraded?: () => { readonly [name: string]: string };
  readonly logLevel: { readonly get: () => LogLevel; readonly set: (level: LogLevel) => void };
  /** Whether an `Authorization` header permits changes here. Compares in constant time. */
  readonly mayChange: (authorization: string | undefined) => boolean;
  readonly port: number;
  readonly host: string;
};

export type Management = {
  readonly start: () => Promise<{ readonly port: number }>;
  /** Makes `/readyz` answer 503 from now on. */
  readonly drain: () => void;
  readonly stop: () => Promise<void>;
};

const EVENT_LOOP_DELAY_MAX_MS = 10_000;
/** The interval of measurements. Each one wakes the process, even when it has nothing to do. */
const EVENT_LOOP_LOOK_MS = 1_000;
/** A pool that gives out no connection for this long while callers wait has lost its connections for good. */
const POOL_SILENT_MAX_MS = 30_000;
const DATABASE_UNSEEN_MAX_MS = 5_000;
const DATABASE_LOOK_EVERY_MS = 1_000;
const TICK_MAX_AGE_MS = 15_000;
const LOGLEVEL_BODY_MAX_BYTES = 1_024;
const LOGLEVEL_TTL_MAX_SECONDS = 3_600;
const REQUEST_WAIT_MS = 10_000;

type Check = { readonly status: 'ok' | 'degraded' | 'failed'; readonly reason?: string };
type Answer = readonly [
  status: number,
  body: string | object,
  headers?: { readonly [name: string]: string },
];

const UNAUTHENTICATED: Answer = [401, 'unauthenticated', { 'WWW-Authenticate': 'Bearer' }];

export function management(needs: ManagementDependencies): Management {
  const state = { draining: false, databaseSeenMs: Number.NEGATIVE_INFINITY };
  const delay = monitorEventLoopDelay({ resolution: EVENT_LOOP_LOOK_MS });
  const levels = levelChanger(needs);
  const server = createServer(
    { requestTimeout: REQUEST_WAIT_MS, headersTimeout: REQUEST_WAIT_MS },
    (request, response) => void respond(request, response),
  );
  let looking: NodeJS.Timeout | undefined;

  const look = async () => {
    try {
      await needs.database.ping();
      state.databaseSeenMs = needs.clock.monotonicMs();
    } catch {
      // Ignored: readiness reports the last time that the check succeeded.
    }
  };
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let answer: Answer;
    try {
      answer = await route(request);
    } catch {
      answer = [500, 'error'];
    }
    const [status, body, headers] = answer;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, {
      'Content-Type': typeof body === 'string' ? 'text/plain' : 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      ...headers,
    });
    response.end(text);
  }
  async function route(request: IncomingMessage): Promise<Answer> {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/loglevel' && request.method === 'PUT') {
      const { authorization } = request.headers;
      return needs.mayChange(authorization) ? levels.put(request) : UNAUTHENTICATED;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') return [405, 'method not allowed'];
    switch (path) {
      case '/livez':
        return liveness(delay, needs.database);
      case '/startupz':
        return startup(needs.waitingFor());
      case '/readyz':
        return readiness(needs, state);
      case '/metrics':
        await needs.measure?.();
        return [
          200,
          await needs.registry.metrics(),
          { 'Content-Type': needs.registry.contentType },
        ];
      default:
        return [404, 'not found'];
    }
  }
  return {
    start: async () => {
      delay.enable();
      await look();
      looking = setInterval(() => void look(), DATABASE_LOOK_EVERY_MS).unref();
      return { port: await bind(server, needs) };
    },
    drain: () => {
      state.draining = true;
    },
    stop: async () => {
      state.draining = true;
      clearInterval(looking);
      levels.stop();
      delay.disable();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function liveness(
  delay: ReturnType<typeof monitorEventLoopDelay>,
  database: ManagementDependencies['database'],
): Answer {
  // The longest delay since the last request. An event loop that hangs now does not respond at all.
  const longestMs = delay.max / 1e6;
  delay.reset();
  if (longestMs >= EVENT_LOOP_DELAY_MAX_MS) return [503, 'event loop delayed'];
  const silent = database.pools().find(({ silentMs }) => silentMs >= POOL_SILENT_MAX_MS);
  return silent === undefined ? [200, 'ok'] : [503, `no connection for ${silent.pool}`];
}

const startup = (waitingFor: readonly string[]): Answer => [
  waitingFor.length === 0 ? 200 : 503,
  { status: waitingFor.length === 0 ? 'started' : 'starting', waiting_for: waitingFor },
];

function readiness(
  needs: ManagementDependencies,
  state: { readonly draining: boolean; readonly databaseSeenMs: number },
): Answer {
  const checks: { [name: string]: Check } = {};
  const nowMs = needs.clock.monotonicMs();
  if (state.draining) checks['process'] = { status: 'failed', reason: 'draining' };
  const waiting = needs.waitingFor();
  if (waiting.length > 0) checks['start'] = { status: 'failed', reason: waiting.join(', ') };
  checks['database'] =
    nowMs - state.databaseSeenMs <= DATABASE_UNSEEN_MAX_MS
      ? { status: 'ok' }
      : { status: 'failed', reason: 'not seen for 5 s' };
  const refused = needs.refusedWrites?.reason();
  if (refused !== undefined) checks['writes'] = { status: 'failed', reason: refused };
  for (const { name, lastTickMs, degraded } of needs.loops.state()) {
    if (nowMs - lastTickMs > TICK_MAX_AGE_MS) {
      checks[name] = { status: 'failed', reason: 'stopped turning' };
    } else {
      checks[name] =
        degraded === undefined ? { status: 'ok' } : { status: 'degraded', reason: degraded };
    }
  }
  for (const [name, reason] of Object.entries(needs.degraded?.() ?? {})) {
    checks[name] = { status: 'degraded', reason };
  }
  const statuses = Object.values(checks).map(({ status }) => status);
  if (statuses.includes('failed')) return [503, { status: 'not_ready', checks }];
  return [200, { status: statuses.includes('degraded') ? 'degraded' : 'ready', checks }];
}

const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'];

/** A level set by an operator is reset after a while, so that no process stays at `debug`. */
function levelChanger({ logLevel }: ManagementDependencies) {
  const usual = logLevel.get();
  let back: NodeJS.Timeout | undefined;
  const put = async (request: IncomingMessage): Promise<Answer> => {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of request) {
      length += (chunk as Buffer).length;
      if (length > LOGLEVEL_BODY_MAX_BYTES) return [413, 'too large'];
      chunks.push(chunk as Buffer);
    }
    const json = readJson(Buffer.concat(chunks));
    const { level, ttl_seconds: ttl } = ('value' in json ? (json.value ?? {}) : {}) as {
      level?: unknown;
      ttl_seconds?: unknown;
    };
    const known = LEVELS.includes(level);
    const bounded =
      Number.isInteger(ttl) && Number(ttl) >= 1 && Number(ttl) <= LOGLEVEL_TTL_MAX_SECONDS;
    if (!known || !bounded) return [400, 'expects {level, ttl_seconds: 1-3600}'];
    clearTimeout(back);
    logLevel.set(level as LogLevel);
    back = setTimeout(() => logLevel.set(usual), Number(ttl) * 1000).unref();
    return [200, { level, ttl_seconds: ttl }];
  };
  return { put, stop: () => clearTimeout(back) };
}

function bind(
  server: ReturnType<typeof createServer>,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: { code?: string }) =>
      reject(error.code === 'EADDRINUSE' ? new PortTaken(port) : error),
    );
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

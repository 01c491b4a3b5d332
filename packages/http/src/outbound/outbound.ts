/**
 * The only HTTP client for addresses that users configure: webhooks, providers, notification endpoints. It
 * follows no redirect, speaks HTTP/1.1, verifies TLS, and connects to public addresses only.
 */
import { Agent, type Dispatcher } from 'undici';
import { addressGuard } from './address-guard.ts';
import {
  CONNECT_WAIT_MS,
  ConnectFailed,
  type ConnectFault,
  type Dialer,
  guardedConnector,
  type NameResolver,
  ownDialer,
  ownResolver,
} from './guarded-connector.ts';
import { systemResolver } from './system-resolver.ts';
import { checkUrl, type UrlPolicy } from './target-url.ts';

export type OutboundError = ConnectFault | 'timeout' | 'reset' | 'protocol_error';

export type OutboundDependencies = UrlPolicy & {
  /** Replaces DNS. Tests count its calls. */
  readonly resolver?: NameResolver;
  /** Replaces TCP and TLS. Tests count its calls. */
  readonly dialer?: Dialer;
  readonly connectWaitMs?: number;
  readonly wholeWaitMs?: number;
  /** Nothing of a body is read beyond this number of bytes. */
  readonly bodyMaxBytes?: number;
};

export type OutboundRequest = {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: { readonly [name: string]: string };
  readonly body?: string | Buffer;
  /** Ends the request as `timeout`, e.g. when the process stops. */
  readonly signal?: AbortSignal;
};

export type OutboundAnswer = {
  /** 0 without a response. 3xx are responses like others. */
  readonly status: number;
  /** Set only with status 0. */
  readonly error?: OutboundError;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** The part that arrived within the limit of bytes and {@link BODY_WAIT_MS}. */
  readonly body: Buffer;
  readonly durationMs: number;
};

export interface Outbound {
  /** Never throws, because every failure has an error code. */
  send(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

export const CONNECTIONS_PER_ORIGIN = 16;
/** The time limit of the whole request: queue, connect, request, status line. */
export const OUTBOUND_WAIT_MS = 15_000;
export const BODY_MAX_BYTES = 16 * 1024;
/** The status line determines the result. Its body is read for this long at most. */
export const BODY_WAIT_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;
const EXCERPT_MAX_CHARS = 256;

export function outbound(needs: OutboundDependencies): Outbound {
  const development = needs.env === 'development';
  const guard = addressGuard(needs.allowedCidrs);
  const wholeWaitMs = needs.wholeWaitMs ?? OUTBOUND_WAIT_MS;
  const bodyMaxBytes = needs.bodyMaxBytes ?? BODY_MAX_BYTES;
  const agent = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: wholeWaitMs,
    bodyTimeout: wholeWaitMs,
    connect: guardedConnector({
      guard,
      development,
      resolver: needs.resolver ?? ownResolver(guard.hasOwnRanges ? systemResolver() : undefined),
      dialer: needs.dialer ?? ownDialer(),
      connectWaitMs: needs.connectWaitMs ?? CONNECT_WAIT_MS,
    }),
  });
  return {
    send: async (request) => {
      const startMs = performance.now();
      const done = (answer: Omit<OutboundAnswer, 'durationMs'>): OutboundAnswer => ({
        ...answer,
        durationMs: Math.round(performance.now() - startMs),
      });
      const judged = checkUrl(request.url, development, guard);
      if ('rule' in judged) return done(unanswered('blocked_address'));
      const late = AbortSignal.timeout(wholeWaitMs);
      const signal = request.signal ? AbortSignal.any([late, request.signal]) : late;
      try {
        const response = await agent.request({
          origin: judged.url.origin,
          path: `${judged.url.pathname}${judged.url.search}`,
          method: request.method,
          headers: { ...request.headers },
          body: request.body ?? null,
          signal,
        });
        const { statusCode: status, headers } = response;
        return done({ status, headers, body: await readSome(response.body, bodyMaxBytes) });
      } catch (error) {
        return done(unanswered(signal.aborted ? 'timeout' : nameOf(error)));
      }
    },
    close: () => agent.destroy(),
  };
}

const unanswered = (error: OutboundError) =>
  ({ status: 0, error, headers: {}, body: Buffer.alloc(0) }) as const;

/** The part of the body within the limits of bytes and time. If the connection breaks, the part received so far. */
async function readSome(
  stream: Dispatcher.ResponseData['body'],
  bytesMax: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => stream.destroy(), BODY_WAIT_MS);
  try {
    for await (const chunk of stream) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length >= bytesMax) break;
    }
  } catch {
    // The time limit or the other side ended the body. The status is still valid.
  } finally {
    clearTimeout(timer);
    stream.on('error', () => {});
    stream.destroy();
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

const RESET_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_CLOSED']);
const TIMEOUT_CODES = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

function nameOf(error: unknown): OutboundError {
  if (error instanceof ConnectFailed) return error.fault;
  const code = String((error as { code?: unknown } | null)?.code);
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  return RESET_CODES.has(code) ? 'reset' : 'protocol_error';
}

/** The printable beginning of a body, for users who look for the cause of a failure. */
export const excerptOf = (body: Buffer): string =>
  body
    .toString('utf8')
    .replaceAll(/\p{C}|\uFFFD/gu, '')
    .slice(0, EXCERPT_MAX_CHARS);

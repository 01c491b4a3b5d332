/** Writes all responses: one error body, the same security headers, one content length. */
import type { ServerResponse } from 'node:http';
import { AWAITS_CONTINUE, discard } from '../input/body.ts';
import type { Refusal } from '../refusals/refusal.ts';
import type { Outgoing } from './headers.ts';

/** Headers of this deployment in every response. */
export type DefaultHeaders = {
  readonly always: { readonly [name: string]: string };
  /** Tells a refused client where to get tokens (RFC 9728, 5.1). */
  readonly challenge: string;
};

const HSTS_SECONDS = 365 * 24 * 60 * 60;

export function defaultHeadersFor(issuer: string): DefaultHeaders {
  const https = issuer.startsWith('https:');
  return {
    always: {
      'X-Content-Type-Options': 'nosniff',
      ...(https ? { 'Strict-Transport-Security': `max-age=${HSTS_SECONDS}` } : {}),
    },
    // Derived from the identifier of the resource, `<issuer>/api` (RFC 9728, 3.1), because clients compare them.
    challenge: `resource_metadata="${issuer}/.well-known/oauth-protected-resource/api"`,
  };
}

export function writeJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Outgoing,
): void {
  const text = JSON.stringify(body);
  headers['Content-Type'] = 'application/json; charset=utf-8';
  const length = Buffer.byteLength(text);
  headers['Content-Length'] = length;
  response.writeHead(status, headers);
  // If the text has one byte per character it is ASCII, and Latin-1 encodes it identically at lower cost.
  const encoding = length === text.length ? 'latin1' : 'utf8';
  endTogether({ response, content: text, encoding });
}

export const errorBody = ({ code, message, details }: Refusal, requestId: string) => ({
  error: { code, message, request_id: requestId, ...(details === undefined ? {} : { details }) },
});

const RETRY_LATER = new Set([429, 503]);

/** The headers that a refusal adds to its own. */
export function refusalHeaders(
  headers: Outgoing,
  refusal: Refusal,
  { path, challenge }: { readonly path: string; readonly challenge: string },
): void {
  Object.assign(headers, refusal.headers);
  if (RETRY_LATER.has(refusal.status)) headers['Retry-After'] ??= '1';
  if (refusal.status !== 401 || !path.startsWith('/api/v1')) return;
  const own = headers['WWW-Authenticate'];
  headers['WWW-Authenticate'] = own === undefined ? `Bearer ${challenge}` : `${own}, ${challenge}`;
}

/**
 * If a response is sent before its request was read, up to this much of the request is still read, so that the client
 * gets the response.
 */
const LEFTOVER_MAX_BYTES = 4 * 1024 * 1024;
const LEFTOVER_WAIT_MS = 2_000;

/** Call it before the headers are written. */
export function mindUnreadBody(response: ServerResponse, headers: Outgoing): void {
  const { req } = response;
  if (req.complete) return;
  if (AWAITS_CONTINUE in req) {
    // The body was never requested and may never arrive, so the connection cannot be reused.
    headers['Connection'] = 'close';
    return;
  }
  // Node discards the body of a request that nobody has begun to read, at any length and as fast as it arrives.
  req.pause();
  req.read(0);
  response.once('finish', () => {
    let left = LEFTOVER_MAX_BYTES;
    const cut = () => req.destroy();
    const timer = setTimeout(cut, LEFTOVER_WAIT_MS);
    req.on('error', () => {});
    discard(req, (bytes) => {
      left -= bytes;
      if (left < 0) cut();
    });
    req.once('close', () => clearTimeout(timer));
    req.once('end', () => clearTimeout(timer));
  });
}

/** This many responses are sent before the end of a turn, so that clients have work while it continues. */
export const TOGETHER_MAX = 8;

type Ending = {
  readonly response: Pick<ServerResponse, 'end'>;
  readonly content: string | Buffer;
  /** The encoding of a string. */
  readonly encoding: 'latin1' | 'utf8';
};

let waiting: Ending[] = [];

/**
 * Ends a response whose headers are written already. Responses that are ready in one turn of the event loop are written
 * together at its end. Each write to a sleeping client wakes it, which costs the kernel more than the response itself,
 * especially on virtual machines. The first of several writes wakes a client or gateway for all of them. A single
 * response does not wait, because the end of the turn follows directly.
 */
export function endTogether(ending: Ending): void {
  waiting.push(ending);
  if (waiting.length === 1) setImmediate(endAll);
  else if (waiting.length === TOGETHER_MAX) endAll();
}

/** Call it also before a connection is closed in the middle of a turn, because a waiting response may be on it. */
export function endAll(): void {
  const ready = waiting;
  waiting = [];
  for (const { response, content, encoding } of ready) response.end(content, encoding);
}

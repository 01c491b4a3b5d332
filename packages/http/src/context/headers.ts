/**
 * Headers that may appear once in a request, and headers of a response, among them those for pages of other origins
 * (CORS in the Fetch standard). No response allows credentials, because endpoints that use a cookie are not called
 * across origins.
 */
import type { IncomingMessage } from 'node:http';
import { type Contract, type OriginRule, takesKey } from '../contract/contract.ts';

export type Outgoing = { [name: string]: string | number | string[] };

const SINGLE = new Set([
  'authorization',
  'content-type',
  'content-encoding',
  'dpop',
  'x-service-tenant',
  'x-service-app-id',
  'x-service-token',
  'idempotency-key',
]);
const NONE: ReadonlySet<string> = new Set();

/** Names (lower case) of the headers that a request has more than once. */
export function doubledHeaders({ headers, rawHeaders }: IncomingMessage): ReadonlySet<string> {
  // There are as many names as lines, so none appears twice.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return NONE;
  const seen = new Set<string>();
  const doubled = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) doubled.add(name);
    seen.add(name);
  }
  return doubled;
}

/**
 * Handles calls from pages of other origins (CORS in the Fetch standard): which origins may read a response,
 * and how a preflight is answered. No response allows credentials, because endpoints that use a cookie are
 * not called across origins.
 */

export type AllowedOrigins = {
  /** Whether the deployment or any of its tenants allows the origin. */
  readonly ofAny: (origin: string) => boolean;
  /** Whether the deployment or this tenant allows the origin. */
  readonly ofTenant: (origin: string, tenantId: string) => boolean;
};

const API = '/api/v1/';
const PREFLIGHT_SECONDS = 600;
const EXPOSED =
  'X-Request-Id, X-Service-Consistency, Retry-After, WWW-Authenticate, ETag, Location';
const ALLOW_ORIGIN = 'Access-Control-Allow-Origin';
const EXPOSE_HEADERS = 'Access-Control-Expose-Headers';

export const originRuleOf = ({ path, response }: Contract): OriginRule =>
  response?.origins ?? originRuleOfPath(path);

export const originRuleOfPath = (path: string): OriginRule =>
  path.startsWith(API) ? 'allowed' : 'own';

type CallingPage = {
  readonly origin: string;
  readonly origins: AllowedOrigins;
  /** The response's tenant. A response without a tenant can be read by the allowed origins of all tenants. */
  readonly tenantId: string | undefined;
};

/** Adds the headers that let a page read the response. `page` is undefined if the request names no origin. */
export function crossOriginHeaders(
  headers: Outgoing,
  rule: OriginRule,
  page: CallingPage | undefined,
): void {
  if (rule === 'own') return;
  if (rule === 'every') {
    headers[ALLOW_ORIGIN] = '*';
    headers[EXPOSE_HEADERS] = EXPOSED;
    return;
  }
  headers['Vary'] = 'Origin';
  if (page === undefined || !isAllowed(page)) return;
  headers[ALLOW_ORIGIN] = page.origin;
  headers[EXPOSE_HEADERS] = EXPOSED;
}

const isAllowed = ({ origin, origins, tenantId }: CallingPage): boolean =>
  tenantId === undefined ? origins.ofAny(origin) : origins.ofTenant(origin, tenantId);

export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;

/** Answers from the contracts of one path and the origins that the process knows. Nothing is read for it. */
export function preflightHeaders(
  request: IncomingMessage,
  contracts: readonly Contract[],
  origins: AllowedOrigins,
): Outgoing {
  const { origin = '', 'access-control-request-method': method } = request.headers;
  const callable = contracts.filter((contract) => originRuleOf(contract) !== 'own');
  const wanted = callable.find((contract) => contract.method.toUpperCase() === method);
  const isEvery = wanted?.response?.origins === 'every';
  const headers: Outgoing = isEvery ? {} : { Vary: 'Origin' };
  if (wanted === undefined || (!isEvery && !origins.ofAny(origin))) return headers;
  return {
    ...headers,
    [ALLOW_ORIGIN]: isEvery ? '*' : origin,
    'Access-Control-Allow-Methods': callable.map(methodsOf).join(', '),
    'Access-Control-Allow-Headers': requestHeadersOf(wanted).join(', '),
    'Access-Control-Max-Age': PREFLIGHT_SECONDS,
  };
}

const methodsOf = ({ method }: Contract): string =>
  method === 'get' ? 'GET, HEAD' : method.toUpperCase();

/**
 * Tracing in a browser (OpenTelemetry, Zipkin, Sentry) adds these to every call of a page. If the preflight does not
 * allow them, the whole call fails.
 */
const TRACING_HEADERS = ['traceparent', 'tracestate', 'baggage', 'b3', 'sentry-trace'];

/** The headers that the endpoint reads, and those that browsers send on their own. */
function requestHeadersOf(contract: Contract): readonly string[] {
  const { who, method, tenant, access, response } = contract;
  const hasCredential = who !== 'anyone' || response?.errors === 'oauth';
  return [
    ...(hasCredential ? ['Authorization', 'DPoP'] : []),
    ...(method === 'get' ? [] : ['Content-Type']),
    ...(tenant === 'none' ? [] : ['X-Service-Tenant']),
    ...(takesKey(contract) ? ['Idempotency-Key'] : []),
    ...(access?.needsCapability === true ? ['X-Service-Token'] : []),
    ...['X-Service-App-Id', 'X-Service-Consistency'],
    ...TRACING_HEADERS,
  ];
}

export const NO_ORIGINS: AllowedOrigins = { ofAny: () => false, ofTenant: () => false };

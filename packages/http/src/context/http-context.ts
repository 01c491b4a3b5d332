/** One HTTP request and its response, from its arrival until the response has ended. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '@cardea/auth';
import {
  type Clock,
  type Ids,
  type Logger,
  type RequestSpan,
  requestSpan,
  storedId,
} from '@cardea/runtime';
import type { LargeBodies } from '../input/large-bodies.ts';
import type { Begun, RequestTurns } from '../pipeline/request-turns.ts';
import type { Route } from '../pipeline/route.ts';
import { oauthErrorBody } from '../refusals/oauth-error.ts';
import type { Refusal } from '../refusals/refusal.ts';
import type { RefusedWrites } from '../refusals/refused-writes.ts';
import { clientAddress, type TrustedProxies } from './client-address.ts';
import {
  type AllowedOrigins,
  crossOriginHeaders,
  doubledHeaders,
  type Outgoing,
  originRuleOfPath,
} from './headers.ts';
import type { HttpMetrics } from './metrics.ts';
import {
  type DefaultHeaders,
  errorBody,
  mindUnreadBody,
  refusalHeaders,
  writeJson,
} from './write-answer.ts';

/** Shared by all requests of one server. */
export type ServerParts = {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly trusted: TrustedProxies;
  readonly defaultHeaders: DefaultHeaders;
  readonly draining: AbortSignal;
  readonly open: OpenRequests<HttpContext>;
  readonly largeBodies: LargeBodies;
  /** Undefined on an internal listener, because its requests waited for their turn in another process. */
  readonly turns: RequestTurns | undefined;
  readonly origins: AllowedOrigins;
  readonly refusedWrites: RefusedWrites | undefined;
};

const REQUEST_ID = /^[A-Za-z0-9_.-]{8,64}$/;

export class HttpContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly search: string;
  readonly ip: string;
  readonly requestId: string;
  readonly parts: ServerParts;
  /** Set after the path was found to be an endpoint's. */
  route: Route | undefined;
  principal: Principal | undefined;
  /** The tenant of the response, if neither credential nor header names it. */
  ofTenant: string | undefined;
  /** The index of this object among the open requests. */
  place = 0;
  #refusalCode: string | undefined;
  /** True when the request has been read completely. */
  bodyIsRead = false;
  /**
   * The `Origin` header. It is stored here, because a library that handles the request may remove it from the headers.
   */
  readonly #origin: string | undefined;
  /** `X-Served-By` of a response that belongs to no service. */
  readonly #name: string;
  readonly #startedMs: number;
  readonly #span: RequestSpan | undefined;
  readonly #abort = new AbortController();
  /** Aborts when the client disconnects, or when the time limit of a stop has passed. */
  readonly signal = this.#abort.signal;
  readonly traceparent: string | undefined;
  /** Names (lower case) of the headers that may appear once but that this request has more than once. */
  readonly doubled: ReadonlySet<string>;
  #begun: Begun | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    parts: ServerParts,
    name: string,
  ) {
    const url = originForm(request);
    const mark = url.indexOf('?');
    this.request = request;
    this.response = response;
    this.parts = parts;
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.search = mark === -1 ? '' : url.slice(mark + 1);
    this.#name = name;
    this.#startedMs = parts.clock.monotonicMs();
    const { headers, socket } = request;
    this.#origin = headers.origin;
    this.doubled = doubledHeaders(request);
    const forwarded = headers['x-forwarded-for'];
    this.ip = clientAddress(
      socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
      parts.trusted,
    );
    const named = headers['x-request-id'];
    this.requestId =
      typeof named === 'string' && REQUEST_ID.test(named) && parts.trusted(socketAddress(request))
        ? named
        : parts.ids.next();
    const { traceparent } = headers;
    this.#span = requestSpan(typeof traceparent === 'string' ? traceparent : undefined);
    this.traceparent = this.#span?.traceparent;
    parts.open.add(this);
    parts.metrics.inFlight.inc();
    response.on('close', () => this.#closed());
  }

  abandon(): void {
    this.#abort.abort();
  }

  /** Marks the beginning of this request's turn. The turn ends when the response and the request have ended. */
  begin(begun: Begun): void {
    if (this.response.closed) this.parts.turns?.end(begun);
    else this.#begun = begun;
  }

  /** A part of this request has ended, and `begin` is called for the next one. */
  endPart(): Begun | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    return begun;
  }

  endTurn(): void {
    const begun = this.endPart();
    if (begun !== undefined) this.parts.turns?.end(begun);
  }

  /** Runs the work within the span of this request. */
  within(work: () => void): void {
    if (this.#span === undefined) work();
    else this.#span.within(work);
  }

  /** Headers of every response to this request. */
  headers(): Outgoing {
    const headers: Outgoing = {
      'X-Request-Id': this.requestId,
      'X-Served-By': this.route?.group.service ?? this.#name,
      ...this.parts.defaultHeaders.always,
    };
    if (this.route?.isPrivate === true) headers['Cache-Control'] = 'no-store';
    if (this.parts.draining.aborted) headers['Connection'] = 'close';
    const origin = this.#origin;
    crossOriginHeaders(
      headers,
      this.route?.origins ?? originRuleOfPath(this.path),
      origin === undefined
        ? undefined
        : { origin, origins: this.parts.origins, tenantId: this.#tenant() },
    );
    return headers;
  }

  answer(status: number, body: unknown, headers: Outgoing): void {
    if (this.response.headersSent || this.response.destroyed) return;
    if (!this.request.complete && !this.bodyIsRead) mindUnreadBody(this.response, headers);
    if (status === 204) this.response.writeHead(status, headers).end();
    else writeJson(this.response, status, body, headers);
  }

  refuse(refusal: Refusal, more: Outgoing = {}): void {
    this.#refusalCode = refusal.code;
    const headers = Object.assign(this.headers(), more);
    const { challenge } = this.parts.defaultHeaders;
    refusalHeaders(headers, refusal, { path: this.path, challenge });
    const isOAuth = this.route?.contract.response?.errors === 'oauth';
    const body = isOAuth ? oauthErrorBody(refusal) : errorBody(refusal, this.requestId);
    this.answer(refusal.status, body, headers);
  }

  #endTurnOnceRead(): void {
    if (this.#begun === undefined) return;
    const end = () => this.endTurn();
    // What is left of a refused body is still read.
    if (this.request.complete || this.request.closed) end();
    else this.request.once('close', end);
  }

  #tenant(): string | undefined {
    const header = this.request.headers['x-service-tenant'];
    const sent = typeof header === 'string' ? storedId(header) : undefined;
    return this.principal?.tenantId ?? this.ofTenant ?? sent;
  }

  #closed(): void {
    const { parts, response, request, principal } = this;
    const contract = this.route?.contract;
    parts.open.delete(this);
    parts.metrics.inFlight.dec();
    this.#endTurnOnceRead();
    if (!response.writableFinished) this.#abort.abort();
    const durationMs = parts.clock.monotonicMs() - this.#startedMs;
    // 499: the client disconnected before the response.
    const status = response.headersSent ? response.statusCode : 499;
    const route = contract?.path ?? 'none';
    const method = request.method ?? '';
    // Clients may invent methods, but labels and names must stay a closed set.
    const known = contract === undefined ? 'any' : method;
    parts.metrics.duration.observe(durationMs / 1000, known, route, status);
    this.#span?.end(`request ${known} ${route}`, { method: known, route, status });
    parts.logger.info(
      {
        request_id: this.requestId,
        trace_id: this.traceparent?.slice(3, 35),
        method,
        route,
        status,
        code: this.#refusalCode,
        client_address: this.ip,
        duration_ms: Math.round(durationMs * 10) / 10,
        tenant_id: principal?.tenantId,
        actor: principal === undefined ? undefined : `${principal.kind}:${principal.id}`,
      },
      'request',
    );
  }
}

const SLASH = 0x2f;
const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/**
 * Path and query of the target. A server has to accept a whole URL as well (RFC 9112, 3.2.2). Its scheme and host are
 * removed here, so that the routers always get a path.
 */
function originForm(request: IncomingMessage): string {
  const url = request.url ?? '/';
  if (url.charCodeAt(0) === SLASH || !ABSOLUTE_FORM.test(url)) return url;
  const rest = url.replace(ABSOLUTE_FORM, '');
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  return request.url;
}

const socketAddress = ({ socket }: IncomingMessage): string =>
  clientAddress(socket.remoteAddress, undefined, () => false);

/** An object that stores its index in {@link OpenRequests}. */
export type Placed = { place: number };

/**
 * The requests that wait for their response, in no order. It is no `Set`, because V8 copies a `Set` after every few
 * dozen changes. Once a copy was promoted to the old generation, all later copies survived with their requests until
 * that generation was collected. Under load this caused a pause of 25 ms four times a second.
 */
export class OpenRequests<One extends Placed> {
  readonly #all: One[] = [];

  add(one: One): void {
    one.place = this.#all.length;
    this.#all.push(one);
  }

  delete(one: One): void {
    const last = this.#all.pop();
    if (last === undefined || last === one) return;
    this.#all[one.place] = last;
    last.place = one.place;
  }

  all(): readonly One[] {
    return [...this.#all];
  }
}

/**
 * Serves the endpoints of one or more services on one port: `serve()` builds the Express application from
 * the endpoint values, and starts and stops the servers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from '@cardea/auth';
import type { ServiceName } from '@cardea/contracts';
import type { Clock, Ids, Logger } from '@cardea/runtime';
import type { Registry } from 'prom-client';
import { trustedProxies } from '../context/client-address.ts';
import { type AllowedOrigins, NO_ORIGINS } from '../context/headers.ts';
import { HttpContext, OpenRequests, type ServerParts } from '../context/http-context.ts';
import { httpMetrics } from '../context/metrics.ts';
import { defaultHeadersFor } from '../context/write-answer.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { inOrder } from '../contract/route-order.ts';
import type { Identify } from '../input/idempotency.ts';
import { LargeBodies } from '../input/large-bodies.ts';
import { isOddPath } from '../pipeline/odd-path.ts';
import { RequestTurns } from '../pipeline/request-turns.ts';
import { type Group, type PositionsPassed, type Route, routeOf } from '../pipeline/route.ts';
import { NO_PARAMS, type Routing, routingOf } from '../pipeline/routing.ts';
import { answerRequest } from '../pipeline/socket-call.ts';
import type { Denials } from '../refusals/denials.ts';
import { invalid, refusalOf } from '../refusals/refusal.ts';
import type { RefusedWrites } from '../refusals/refused-writes.ts';
import { type Listening, listen } from './listen.ts';
import { isDirect } from './loopback-only.ts';

/** One service's endpoints, with its log, its projections and its store for refusals. */
export type ServiceHttp = {
  readonly service: ServiceName;
  readonly endpoints: readonly Endpoint[];
  /** Waits for projections. Without it nothing waits. */
  readonly positions?: PositionsPassed | undefined;
  /** Records the service's refusals. Without it they are not recorded. */
  readonly denials?: Denials | undefined;
  /** Derives command ids of repeatable requests. Required for idempotent endpoints. */
  readonly identify?: Identify | undefined;
  /** Defaults to the server's authenticator. */
  readonly authenticator?: Authenticator | undefined;
};

export type ServeOptions = {
  readonly services: readonly ServiceHttp[];
  /** Required unless each service has its own or all endpoints are for `anyone`. */
  readonly authenticator?: Authenticator;
  /** Set for an internal listener: only other processes of the deployment call it, without a proxy in between. */
  readonly internal?: Internal;
  /** `X-Served-By` of responses that belong to no service, such as a 404. */
  readonly name: string;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly issuer: string;
  readonly trustedProxies: readonly string[];
  /** Which other origins' pages may call; none by default. */
  readonly origins?: AllowedOrigins;
  readonly registry?: Registry;
  /** Receives the errors of requests that failed. */
  readonly refusedWrites?: RefusedWrites;
  /** 0 selects a free port. */
  readonly port: number;
  /** Addresses to listen on. The second and later ones are skipped if the host lacks them. */
  readonly hosts: readonly string[];
  /** False routes every request through Express. The default is true. */
  readonly fastPath?: boolean;
  /** Whether loopback-only endpoints are served on all addresses. */
  readonly sharesLoopbackOnly?: boolean;
  /** How long pending requests may take after the server began to stop, in milliseconds. */
  readonly stopWaitMs?: number;
};

export type Internal = {
  /** Whether an `Authorization` header belongs to this deployment. Otherwise the response is 401. */
  readonly accepts: (authorization: string | undefined) => boolean;
};

export type HttpServer = {
  readonly start: () => Promise<Pick<Listening, 'port' | 'onLoopback'>>;
  /**
   * From now on each response has `Connection: close` and long polls return at once. Requests are still answered, and
   * connections without a request stay open until the stop.
   */
  readonly drain: () => void;
  /**
   * Drains first. Then no new connection is accepted, pending requests may finish within the time limit, and counted
   * refusals are recorded. A second call waits for the first.
   */
  readonly stop: () => Promise<void>;
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** The routes of Express, to compare with catalogue and document. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
};

const STOP_WAIT_MS = 10_000;
const DENIAL_FLUSH_MS = 5_000;

export function serve(options: ServeOptions): HttpServer {
  const draining = new AbortController();
  const parts: ServerParts = {
    clock: options.clock,
    ids: options.ids,
    logger: options.logger,
    metrics: httpMetrics(options.registry),
    trusted: trustedProxies(options.trustedProxies),
    defaultHeaders: defaultHeadersFor(options.issuer),
    draining: draining.signal,
    open: new OpenRequests(),
    largeBodies: new LargeBodies(),
    turns: options.internal === undefined ? new RequestTurns(options.clock) : undefined,
    origins: options.origins ?? NO_ORIGINS,
    refusedWrites: options.refusedWrites,
  };
  const denials = options.services.flatMap((service) => service.denials ?? []);
  const routes = inOrder(
    options.services.flatMap((service) => {
      const own = new Map<Endpoint, Route>();
      const group = groupOf(service, options, own);
      for (const endpoint of service.endpoints) own.set(endpoint, routeOf(endpoint, group));
      return [...own.values()];
    }),
  );
  let listening: Listening | undefined;
  const showsLoopbackOnly = (request: IncomingMessage): boolean =>
    options.sharesLoopbackOnly === true || (listening?.onLoopback === true && isDirect(request));
  const routing = routingOf(routes, {
    fastPath: options.fastPath !== false,
    showsLoopbackOnly,
  });
  const handler = beforeRouting(routing, parts, options);
  const stopWaitMs = options.stopWaitMs ?? STOP_WAIT_MS;
  let flushing: NodeJS.Timeout | undefined;
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    draining.abort();
    clearInterval(flushing);
    await listening?.close({ stopWaitMs, abandon: () => abandonAll(parts) });
    for (const kept of denials) await kept.flush(true);
  };
  return {
    handler,
    drain: () => draining.abort(),
    routes: routes.map(({ contract: { method, path } }) => ({ method, path })),
    start: async () => {
      listening = await listen(handler, options);
      const flush = () => {
        for (const kept of denials) void kept.flush();
      };
      flushing = setInterval(flush, DENIAL_FLUSH_MS).unref();
      return listening;
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

function groupOf(service: ServiceHttp, options: ServeOptions, routes: Group['routes']): Group {
  return {
    service: service.service,
    authenticator: service.authenticator ?? options.authenticator ?? NO_CALLERS,
    positions: service.positions,
    denials: service.denials,
    identify: service.identify ?? refuseToIdentify,
    routes,
  };
}

const refuseToIdentify: Identify = () => {
  throw new Error('an idempotent endpoint of a service that cannot identify requests');
};

const refuseToAuthenticate = () => {
  throw new Error('an endpoint that asks who calls, on a server that cannot find out');
};
const NO_CALLERS: Authenticator = {
  authenticate: refuseToAuthenticate,
  confirm: refuseToAuthenticate,
  capability: refuseToAuthenticate,
};

const abandonAll = ({ open }: ServerParts) => {
  for (const http of open.all()) http.abandon();
};

/** Performs the steps that are the same for every path, and then finds the endpoint. */
function beforeRouting(
  { literal, byPattern }: Routing,
  parts: ServerParts,
  { name, internal }: Pick<ServeOptions, 'name' | 'internal'>,
): HttpServer['handler'] {
  return (request, response) => {
    const http = new HttpContext(request, response, parts, name);
    const { headers, httpVersionMinor } = request;
    if (headers.host === undefined && httpVersionMinor > 0) {
      return http.refuse(invalid({ field: 'Host', rule: 'required' }));
    }
    if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
      return http.refuse(invalid({ field: 'Expect', rule: 'unknown' }));
    }
    // Paths in this table are valid, so only other paths are checked.
    const route = literal.get(http.path)?.get(request.method ?? '');
    if (internal === undefined) {
      if (route === undefined && isOddPath(http.path)) return http.refuse(refusalOf('not_found'));
    } else if (!internal.accepts(headers.authorization)) {
      return http.refuse(refusalOf('unauthenticated'));
    }
    if (route !== undefined) return http.within(() => void answerRequest(route, http, NO_PARAMS));
    http.within(() => byPattern(http, request, response));
  };
}

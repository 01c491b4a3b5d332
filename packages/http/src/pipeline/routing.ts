/**
 * Finds the endpoint of a request by its path. A few endpoints whose paths begin alike up to their first parameter are
 * found by Express patterns. A router with all patterns would try them one after another.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Router } from 'express';
import { isPreflight, preflightHeaders } from '../context/headers.ts';
import type { HttpContext } from '../context/http-context.ts';
import { answersHead, type Contract } from '../contract/contract.ts';
import { type Refusal, refusalOf, refusalOfThrow } from '../refusals/refusal.ts';
import type { Route } from './route.ts';
import { answerRequest } from './socket-call.ts';

export type Routing = {
  readonly literal: LiteralRoutes;
  /** Also answers requests whose path or method no endpoint has. */
  readonly byPattern: (
    http: HttpContext,
    request: IncomingMessage,
    response: ServerResponse,
  ) => void;
};

type Params = { readonly [name: string]: string };
export const NO_PARAMS: Params = {};

/** `routes` are in the order in which they are tried. Without `fastPath` all of them are found by pattern. */
export function routingOf(
  routes: readonly Route[],
  {
    fastPath,
    showsLoopbackOnly,
  }: {
    readonly fastPath: boolean;
    readonly showsLoopbackOnly: (request: IncomingMessage) => boolean;
  },
): Routing {
  const routers = new Map<string, Router>();
  for (const [start, beginning] of groupedBy(routes, literalStart)) {
    routers.set(start, routerOf(beginning, showsLoopbackOnly));
  }
  const segmentsMax = Math.max(0, ...[...routers.keys()].map((start) => segmentsOf(start).length));
  return {
    literal: fastPath ? literalRoutes(routes) : new Map(),
    byPattern: (http, request, response) => {
      (request as WithContext)[HTTP_CONTEXT] = http;
      const starts = startsOf(http.path, segmentsMax);
      // The longest start comes first, because a literal segment takes precedence over a parameter.
      const next = (error?: unknown): void => {
        const router = isError(error) ? undefined : nextRouter(routers, starts);
        if (router === undefined) unrouted(http, error);
        else router(request as express.Request, response as express.Response, next);
      };
      next();
    },
  };
}

function nextRouter(routers: ReadonlyMap<string, Router>, starts: string[]): Router | undefined {
  for (let start = starts.pop(); start !== undefined; start = starts.pop()) {
    const router = routers.get(start);
    if (router !== undefined) return router;
  }
  return undefined;
}

const HTTP_CONTEXT: unique symbol = Symbol('HTTP context');
type WithContext = IncomingMessage & { [HTTP_CONTEXT]?: HttpContext };
const httpOf = (request: IncomingMessage): HttpContext =>
  (request as WithContext)[HTTP_CONTEXT] as HttpContext;

const segmentsOf = (path: string): readonly string[] => path.split('/').slice(1);

/** The path up to its first parameter. */
function literalStart({ contract: { path } }: Route): string {
  const segments = segmentsOf(path);
  const parameter = segments.findIndex((segment) => segment.includes('{'));
  return `/${segments.slice(0, parameter === -1 ? undefined : parameter).join('/')}`;
}

/** `/`, `/a`, `/a/b`: as many as there are segments, up to the longest start of a route. */
function startsOf(path: string, segmentsMax: number): string[] {
  const starts = ['/'];
  for (let end = 0; end < path.length && starts.length <= segmentsMax; ) {
    const slash = path.indexOf('/', end + 1);
    end = slash === -1 ? path.length : slash;
    starts.push(path.slice(0, end));
  }
  return starts;
}

/**
 * The fast path finds routes by path and method, without Express. All later steps are the same, and
 * `test/security/fast-path.test.ts` compares the responses.
 */
type LiteralRoutes = ReadonlyMap<string, ReadonlyMap<string, Route>>;

function literalRoutes(routes: readonly Route[]): LiteralRoutes {
  const literal = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const { path, method, audience } = route.contract;
    if (path.includes('{') || audience === 'loopback') continue;
    const methods = literal.get(path) ?? new Map<string, Route>();
    literal.set(path, methods.set(method.toUpperCase(), route));
  }
  return literal;
}

/**
 * Only Express' router is used. Its application would add properties to every request and response that nothing here
 * uses.
 */
function routerOf(
  routes: readonly Route[],
  showsLoopbackOnly: (request: IncomingMessage) => boolean,
): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const [path, methods] of byPath(routes)) {
    const at = router.route(path.replaceAll(/\{([a-zA-Z0-9_]+)\}/g, ':$1'));
    if (methods.some(({ contract }) => contract.audience === 'loopback')) {
      at.all((request, _response, next) => {
        if (showsLoopbackOnly(request)) return next();
        httpOf(request).refuse(refusalOf('not_found'));
      });
    }
    const contracts = methods.map(({ contract }) => contract);
    at.options((request, _response, next) => {
      if (!isPreflight(request)) return next();
      const http = httpOf(request);
      http.answer(204, undefined, {
        ...http.headers(),
        ...preflightHeaders(request, contracts, http.parts.origins),
      });
    });
    if (methods.some(({ contract }) => contract.repeat === 'get_only')) {
      // Express routes HEAD to GET, so HEAD is refused explicitly where GET has effects.
      at.head((request, _response) => httpOf(request).refuse(notAllowed(contracts)));
    }
    for (const route of methods) {
      at[route.contract.method]((request, _response) => {
        void answerRequest(route, httpOf(request), request.params as Params);
      });
    }
    at.all((request, _response) => httpOf(request).refuse(notAllowed(contracts)));
  }
  return router;
}

function notAllowed(contracts: readonly Contract[]): Refusal {
  const allowed = contracts.flatMap((contract) =>
    answersHead(contract) ? ['GET', 'HEAD'] : [contract.method.toUpperCase()],
  );
  return refusalOf('method_not_allowed', { headers: { Allow: allowed.join(', ') } });
}

const isError = (error: unknown): boolean => error !== undefined && error !== null;

/** No route accepted the request, or a router threw. */
function unrouted(http: HttpContext, error: unknown): void {
  // The router throws a URIError for a parameter that cannot be decoded. It is answered with 404.
  const isUnknown = !isError(error) || error instanceof URIError;
  const refusal = isUnknown ? refusalOf('not_found') : refusalOfThrow(error);
  if (refusal.status === 500) http.parts.logger.error({ err: error }, 'a request failed');
  http.refuse(refusal);
}

function byPath(routes: readonly Route[]): ReadonlyMap<string, readonly Route[]> {
  const paths = groupedBy(routes, ({ contract }) => contract.path);
  for (const [path, there] of paths) {
    const methods = there.map(({ contract }) => contract.method);
    const twice = methods.find((method, at) => methods.indexOf(method) < at);
    if (twice !== undefined) {
      throw new Error(`two endpoints claim ${twice.toUpperCase()} ${path}`);
    }
  }
  return paths;
}

function groupedBy(
  routes: readonly Route[],
  nameOf: (route: Route) => string,
): ReadonlyMap<string, readonly Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const name = nameOf(route);
    groups.set(name, [...(groups.get(name) ?? []), route]);
  }
  return groups;
}

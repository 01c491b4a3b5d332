/**
 * Finds the endpoint of a plain request to an endpoint with `fast: true`, without Express. From there on both
 * ways are one: the same route is passed through the same pipeline (`docs/design/authz.md`, Fast path).
 */
import type { IncomingMessage } from 'node:http';
import { hasPlainBody } from './body.ts';
import type { Route } from './route.ts';

export type FastRoutes = (request: IncomingMessage) => Route | undefined;

export const NO_FAST_ROUTES: FastRoutes = () => undefined;

/** Undefined for whatever is not in the plain form: Express decides about that. */
export function fastRoutes(routes: readonly Route[]): FastRoutes {
  const byPath = new Map<string, Route>();
  for (const route of routes) {
    const { fast, method, path, loopbackOnly } = route.contract;
    if (fast !== true) continue;
    if (method !== 'post' || path.includes('{') || loopbackOnly === true || byPath.has(path)) {
      throw new Error(`${method.toUpperCase()} ${path} cannot be fast`);
    }
    byPath.set(path, route);
  }
  return (request) => {
    // A query is part of `url`, so a request with one has no such path.
    const route = byPath.get(request.url ?? '');
    if (route === undefined || request.method !== 'POST') return undefined;
    const { host, expect } = request.headers;
    return host !== undefined && expect === undefined && hasPlainBody(request) ? route : undefined;
  };
}

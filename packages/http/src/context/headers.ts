/** Headers that may appear once in a request, and headers of a response. */
import type { IncomingMessage } from 'node:http';

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

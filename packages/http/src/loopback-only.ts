/**
 * What development shows to everybody, it shows on this machine alone: the server has to be bound to
 * loopback, and the request has to be for it. A proxy on the same machine, or a page whose name was
 * turned to 127.0.0.1, would otherwise open to strangers what only loopback protects.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '@cardea/runtime';
import { hostOf } from './outbound/target-url.ts';

/** Headers that a proxy adds; one that adds none and puts its own Host cannot be told from a client. */
const OF_PROXIES = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** Asked of this machine under its own name, and by no proxy that says so. */
export function isDirect({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  if (OF_PROXIES.some((name) => headers[name] !== undefined)) return false;
  const url = URL.parse(`http://${headers.host ?? ''}`);
  return url !== null && isLoopbackHost(hostOf(url));
}

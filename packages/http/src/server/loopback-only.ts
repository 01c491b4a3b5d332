/**
 * Development endpoints without authentication are served on this machine only. The server has to be bound to loopback,
 * and the request has to name it. Otherwise a proxy on the same machine, or a page whose host name resolves to
 * 127.0.0.1, would give strangers access.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '@cardea/runtime';
import { hostOf } from '../outbound/target-url.ts';

/** Headers that a proxy adds. A proxy that adds none and sets its own Host cannot be distinguished from a client. */
const OF_PROXIES = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** Whether the request names this machine itself as its host, and has no header of a proxy. */
export function isDirect({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  if (OF_PROXIES.some((name) => headers[name] !== undefined)) return false;
  const url = URL.parse(`http://${headers.host ?? ''}`);
  return url !== null && isLoopbackHost(hostOf(url));
}

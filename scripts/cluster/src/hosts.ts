/** The addresses of a cluster: its gateway's, and for its processes the loopback address of that family. */
import { hostInUrl, reachableHost } from '@cardea/runtime';

export const LOOPBACK = '127.0.0.1';

export const urlOf = (host: string, port: number): string =>
  `http://${hostInUrl(reachableHost(host))}:${port}`;

/** Addresses that mean this machine and use no network. */
import { BlockList, isIP, isIPv6 } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Takes a plain address. An IPv4 address in IPv6 form counts as that IPv4 address. */
export function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** The host of a URL without brackets, which URLs put around IPv6 addresses. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** The host in the form of a URL, with brackets around an IPv6 address. */
export const hostInUrl = (host = '127.0.0.1'): string => (isIPv6(host) ? `[${host}]` : host);

/** The loopback address of the same family as the host's address. */
export const loopbackBeside = (host: string): string => (isIPv6(host) ? '::1' : '127.0.0.1');

/** The address at which this machine reaches a listener, since a wildcard address is no destination. */
export const reachableHost = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? loopbackBeside(host) : host;

/** Whether the host is `localhost` or a loopback address. Other names that resolve to one do not count. */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopback(host);

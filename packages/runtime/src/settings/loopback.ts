/** Addresses that stand for this machine and use no network. */
import { BlockList, isIP, isIPv6 } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Takes a plain address; a v4 address in its v6 form counts as that v4 address. */
export function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** A host as URLs have it, where an IPv6 address stands in brackets. */
export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** The host of a URL: an IPv6 address stands in brackets. */
export const hostInUrl = (host = '127.0.0.1'): string => (isIPv6(host) ? `[${host}]` : host);

/** The loopback address of the family that the host's address is of. */
export const loopbackBeside = (host: string): string => (isIPv6(host) ? '::1' : '127.0.0.1');

/** The address at which this machine reaches a listener: a wildcard address is no destination. */
export const reachableHost = (host: string): string =>
  host === '0.0.0.0' || host === '::' ? loopbackBeside(host) : host;

/** The one name that stands for this machine, or an address of it; a name that resolves to one does not. */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopback(host);

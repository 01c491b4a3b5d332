/**
 * The client's address is the socket's, unless the socket is a trusted proxy. Then X-Forwarded-For is read from the
 * right, up to the first address that is not a trusted proxy.
 */
import { isIP } from 'node:net';
import { computedOnce } from '@cardea/runtime';
import ipaddr from 'ipaddr.js';

const HOPS_MAX = 16;
const IPV6 = 6;
const MAPPED = '::ffff:';
const REMEMBERED_MAX = 10_000;

export type TrustedProxies = (address: string) => boolean;

/** Throws for an invalid CIDR, so that settings are checked at the start. */
export function trustedProxies(cidrs: readonly string[]): TrustedProxies {
  const ranges = cidrs.map((cidr) => ipaddr.parseCIDR(cidr.includes('/') ? cidr : withWidth(cidr)));
  if (ranges.length === 0) return () => false;
  const remembered = computedOnce<string, boolean>(REMEMBERED_MAX);
  const isTrusted = (address: string): boolean => {
    const parsed = parse(address);
    return (
      parsed !== undefined &&
      ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits))
    );
  };
  return (address) => remembered(address, () => isTrusted(address));
}

const withWidth = (address: string) => `${address}/${address.includes(':') ? 128 : 32}`;

export function clientAddress(
  remote: string | undefined,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  let client = remote ?? '';
  // An IPv4 client on a dual-stack socket appears as `::ffff:…`.
  if (client.startsWith(MAPPED) && client.includes('.')) client = client.slice(MAPPED.length);
  if (forwardedFor === undefined || !trusted(client)) return client;
  const hops = forwardedFor.split(',');
  for (let hop = 0; hop < HOPS_MAX && hops.length > 0; hop += 1) {
    const named = parse((hops.pop() as string).trim());
    // An entry that is not an address is not trusted, nor is anything to its left.
    if (named === undefined) return client;
    client = named.toString();
    if (!trusted(client)) return client;
  }
  return client;
}

/** `192.0.2.1:47011` and `[2001:db8::1]:47011`, as some proxies write addresses, and `[2001:db8::1]`. */
const WITH_PORT = /^(?:\[([^\]]*)\]|([0-9.]+))(?::[0-9]{1,5})?$/;

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, bracketed, plain] = WITH_PORT.exec(text) ?? [];
  if (bracketed !== undefined && isIP(bracketed) !== IPV6) return undefined;
  const address = bracketed ?? plain ?? text;
  // The library also accepts `127.1` and `0x7f.1`, which no proxy writes.
  return isIP(address) === 0 ? undefined : ipaddr.process(address);
}

/**
 * The networks of an address, for rate limits. An IPv6 client usually has a /64 and could use each of its addresses
 * once, so limits count IPv6 networks instead of addresses.
 */
import ipaddr from 'ipaddr.js';

const IPV4_NETWORK_BYTES = 3;
const IPV6_NETWORK_BYTES = 8;
const IPV6_SITE_BYTES = 6;
/** The limit of a /48, which is a site or a provider's customers, as a multiple of the limit of one network in it. */
const SITE_FACTOR = 8;

export type AddressLimitKey = {
  readonly key: string;
  /** The factor by which the limit of one address is multiplied. */
  readonly factor: number;
};

/** The keys of a limit by address: the IPv4 address; for IPv6 the /64, and then its /48. */
export function addressLimitKeys(ip: string): readonly AddressLimitKey[] {
  const address = parsed(ip);
  if (address?.kind() !== 'ipv6') return [{ key: address?.toString() ?? 'unknown', factor: 1 }];
  return [
    { key: ipv6Network(address, IPV6_NETWORK_BYTES), factor: 1 },
    { key: ipv6Network(address, IPV6_SITE_BYTES), factor: SITE_FACTOR },
  ];
}

/** The network of an address: /24 for IPv4, /64 for IPv6. This is usually one household. */
export function networkOf(ip: string): string {
  const address = parsed(ip);
  if (address === undefined) return 'unknown';
  return address.kind() === 'ipv6'
    ? ipv6Network(address, IPV6_NETWORK_BYTES)
    : `${address.toByteArray().slice(0, IPV4_NETWORK_BYTES).join('.')}.0/24`;
}

/** An IPv4-mapped IPv6 address is treated as the IPv4 address. */
const parsed = (ip: string) => (ipaddr.isValid(ip) ? ipaddr.process(ip) : undefined);

const ipv6Network = (address: ipaddr.IPv4 | ipaddr.IPv6, bytes: number): string =>
  `${Buffer.from(address.toByteArray().slice(0, bytes)).toString('hex')}/${bytes * 8}`;

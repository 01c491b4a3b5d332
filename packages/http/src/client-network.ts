/**
 * The networks that an address stands for. Whoever has an IPv6 line has at least a /64 of it and may use
 * each of its addresses once, so a limit counts networks there, not addresses.
 */
import ipaddr from 'ipaddr.js';

const IPV4_NETWORK_BYTES = 3;
const IPV6_NETWORK_BYTES = 8;
const IPV6_SITE_BYTES = 6;
/** How many times the limit of one network the /48 around it has: a site, or a provider's customers. */
const SITE_FACTOR = 8;

export type AddressLimitKey = {
  readonly key: string;
  /** By how much the limit of one address is multiplied for it. */
  readonly factor: number;
};

/** What a limit by address counts by: the IPv4 address; of an IPv6 one the /64, and then its /48. */
export function addressLimitKeys(ip: string): readonly AddressLimitKey[] {
  const address = parsed(ip);
  if (address?.kind() !== 'ipv6') return [{ key: address?.toString() ?? 'unknown', factor: 1 }];
  return [
    { key: ipv6Network(address, IPV6_NETWORK_BYTES), factor: 1 },
    { key: ipv6Network(address, IPV6_SITE_BYTES), factor: SITE_FACTOR },
  ];
}

/** The network that an address belongs to: /24 of IPv4, /64 of IPv6. One household, one network. */
export function networkOf(ip: string): string {
  const address = parsed(ip);
  if (address === undefined) return 'unknown';
  return address.kind() === 'ipv6'
    ? ipv6Network(address, IPV6_NETWORK_BYTES)
    : `${address.toByteArray().slice(0, IPV4_NETWORK_BYTES).join('.')}.0/24`;
}

/** An IPv4 address in IPv6 form is the IPv4 address. */
const parsed = (ip: string) => (ipaddr.isValid(ip) ? ipaddr.process(ip) : undefined);

const ipv6Network = (address: ipaddr.IPv4 | ipaddr.IPv6, bytes: number): string =>
  `${Buffer.from(address.toByteArray().slice(0, bytes)).toString('hex')}/${bytes * 8}`;

/**
 * Allows only addresses that are known to be public. Everything except plain global unicast is refused, so that a
 * forgotten range is refused too.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

export type AddressGuard = {
  /** True when the address may be connected to. False for a text that is not an address. */
  readonly allows: (address: string) => boolean;
  /** Whether the operator has configured ranges. */
  readonly hasOwnRanges: boolean;
};

// The library calls 4000::1 unicast; only 2000::/3 is assigned.
const GLOBAL_UNICAST_V6: Range = ipaddr.parseCIDR('2000::/3');
/**
 * Ranges that no configuration can open: this host itself, its link, and the addresses at which clouds serve a host's
 * credentials. Some of those look like ordinary public or private addresses.
 */
const NEVER: readonly Range[] = [
  ...['127.0.0.0/8', '::1/128', '169.254.0.0/16', 'fe80::/10'],
  // Used by AWS, Alibaba Cloud, Azure and Oracle Cloud.
  ...['fd00:ec2::23/128', 'fd00:ec2::254/128'],
  ...['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
].map((cidr) => ipaddr.parseCIDR(cidr));

const LAST_BYTES = [12, 13, 14, 15];
/** IPv6 ranges that are translated to IPv4, and the bytes that may contain the IPv4 address. */
const CARRIED_ON: readonly { readonly range: Range; readonly bytes: readonly number[] }[] = [
  // IPv4-compatible and IPv4-translated (RFC 4291, RFC 2765), 6to4 (RFC 3056).
  { range: ipaddr.parseCIDR('::/96'), bytes: LAST_BYTES },
  { range: ipaddr.parseCIDR('::ffff:0:0:0/96'), bytes: LAST_BYTES },
  { range: ipaddr.parseCIDR('2002::/16'), bytes: [2, 3, 4, 5] },
  // NAT64 (RFC 6052). In the local-use prefix (RFC 8215) each network chooses its own length.
  { range: ipaddr.parseCIDR('64:ff9b::/96'), bytes: LAST_BYTES },
  ...[[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST_BYTES].map((bytes) => ({
    range: ipaddr.parseCIDR('64:ff9b:1::/48'),
    bytes,
  })),
];

/** Throws for an invalid CIDR. */
export function addressGuard(allowedCidrs: readonly string[]): AddressGuard {
  const own = allowedCidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return {
    hasOwnRanges: own.length > 0,
    allows: (text) => {
      const address = parse(text);
      if (address === undefined) return false;
      if (isNever(address)) return false;
      return isPublic(address) || within(address, own);
    },
  };
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || within(address, [GLOBAL_UNICAST_V6]);
}

const isNever = (address: Address): boolean =>
  within(address, NEVER) || carriedOnTo(address).some((inner) => within(inner, NEVER));

function carriedOnTo(address: Address): readonly Address[] {
  const all = address.toByteArray();
  return CARRIED_ON.filter(({ range }) => within(address, [range])).map(({ bytes }) =>
    ipaddr.fromByteArray(bytes.map((at) => all[at] ?? 0)),
  );
}

const within = (address: Address, ranges: readonly Range[]): boolean =>
  ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));

/**
 * `net.isIP` comes first, because the library also accepts `127.1`. An IPv4-mapped address is treated as IPv4. Forms
 * such as `::8.8.8.8` are not. The library would read them as IPv4, so the text is checked.
 */
function parse(text: string): Address | undefined {
  switch (isIP(text)) {
    case 4:
      return ipaddr.parse(text);
    case 6: {
      const spelled = text.includes('%') ? null : URL.parse(`http://[${text}]`);
      return spelled === null ? undefined : ipaddr.process(spelled.hostname.slice(1, -1));
    }
    default:
      return undefined;
  }
}

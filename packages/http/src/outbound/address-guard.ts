/**
 * An address is dialled only if it is known to be public: what is not plain global unicast is refused,
 * so that a range nobody thought of falls on the safe side.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

export type AddressGuard = {
  /** May be dialled. Anything that is no plain address is not. */
  readonly allows: (address: string) => boolean;
  /** The operator named ranges of their own. */
  readonly hasOwnRanges: boolean;
};

// The library calls 4000::1 unicast; only 2000::/3 is given out.
const GLOBAL_UNICAST_V6: Range = ipaddr.parseCIDR('2000::/3');
/**
 * No operator's list opens these: they are this host itself, its neighbours, and where clouds hand out
 * the credentials of a host. Some of those stand in public or private space like any other address.
 */
const NEVER: readonly Range[] = [
  ...['127.0.0.0/8', '::1/128', '169.254.0.0/16', 'fe80::/10'],
  // AWS; also Alibaba Cloud, Azure, Oracle Cloud.
  ...['fd00:ec2::23/128', 'fd00:ec2::254/128'],
  ...['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
].map((cidr) => ipaddr.parseCIDR(cidr));

const LAST_BYTES = [12, 13, 14, 15];
/** IPv6 ranges whose addresses are carried on to an IPv4 address, and the bytes that may hold it. */
const CARRIED_ON: readonly { readonly range: Range; readonly bytes: readonly number[] }[] = [
  // IPv4-compatible and IPv4-translated (RFC 4291, RFC 2765), 6to4 (RFC 3056).
  { range: ipaddr.parseCIDR('::/96'), bytes: LAST_BYTES },
  { range: ipaddr.parseCIDR('::ffff:0:0:0/96'), bytes: LAST_BYTES },
  { range: ipaddr.parseCIDR('2002::/16'), bytes: [2, 3, 4, 5] },
  // NAT64 (RFC 6052); the local-use prefix (RFC 8215) leaves each network its own length.
  { range: ipaddr.parseCIDR('64:ff9b::/96'), bytes: LAST_BYTES },
  ...[[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST_BYTES].map((bytes) => ({
    range: ipaddr.parseCIDR('64:ff9b:1::/48'),
    bytes,
  })),
];

/** Throws for a CIDR that is none. */
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
 * `net.isIP` first, for the library takes `127.1` too. A v4 address in v6 clothes is that v4 address,
 * but only if it is mapped: the library reads `::8.8.8.8` so as well, hence the platform's own spelling.
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

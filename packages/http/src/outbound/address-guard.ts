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
/** No operator's list opens these: they are this host itself, its neighbours, its metadata. */
const NEVER: readonly Range[] = ['127.0.0.0/8', '169.254.0.0/16', '::1/128', 'fe80::/10'].map(
  (cidr) => ipaddr.parseCIDR(cidr),
);

/** Throws for a CIDR that is none. */
export function addressGuard(allowedCidrs: readonly string[]): AddressGuard {
  const own = allowedCidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return {
    hasOwnRanges: own.length > 0,
    allows: (text) => {
      const address = parse(text);
      if (address === undefined) return false;
      if (isPublic(address)) return true;
      return within(address, own) && !within(address, NEVER);
    },
  };
}

export const isLoopback = (text: string): boolean => parse(text)?.range() === 'loopback';

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || within(address, [GLOBAL_UNICAST_V6]);
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

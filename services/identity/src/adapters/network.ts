/** The network that an address belongs to: /24 of IPv4, /64 of IPv6. One household, one prefix. */
import ipaddr from 'ipaddr.js';

export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  const bytes = address.toByteArray();
  return address.kind() === 'ipv4'
    ? `${bytes.slice(0, 3).join('.')}.0/24`
    : `${Buffer.from(bytes.slice(0, 8)).toString('hex')}/64`;
}

/** An address, or a block of them in CIDR form. */
export const isNetwork = (text: string): boolean =>
  text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text);

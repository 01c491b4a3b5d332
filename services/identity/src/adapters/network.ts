import ipaddr from 'ipaddr.js';

/** An address, or a block of them in CIDR form. */
export const isNetwork = (text: string): boolean =>
  text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text);

import ipaddr from 'ipaddr.js';

/** Whether the text is an IP address or a block in CIDR notation. */
export const isNetwork = (text: string): boolean =>
  text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text);

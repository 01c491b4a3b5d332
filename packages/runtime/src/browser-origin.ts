import { isLoopback } from './loopback.ts';

/**
 * Whether a browser writes an origin so whose pages may be let in: `https://example.com`, or a loopback address
 * by http. Never `null`, which pages of everybody can have.
 */
export function isBrowserOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.origin !== text) return false;
  const address = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(address));
}

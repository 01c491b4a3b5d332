/**
 * Validates addresses of a tenant's own pages, to which secrets are sent. They must be https, or loopback in
 * development.
 */
import type { Environment } from './environment.ts';

const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

/** Returns the address without a trailing slash, since paths are appended to it. Undefined if it is not allowed. */
export function pageUrl(text: string, env: Environment): string | undefined {
  return isPage(text, env) ? text.replace(/\/+$/, '') : undefined;
}

export function isPage(text: string, env: Environment): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isLocal =
    env === 'development' && url.protocol === 'http:' && LOOPBACK.includes(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) return false;
  return url.username === '' && url.password === '' && !text.includes('#') && !/\s/.test(text);
}

/** Addresses of a tenant's own pages, to which secrets are sent: https, or this machine in development. */
import type { Environment } from './environment.ts';

const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

/** Without a slash at its end, as paths are appended to it; undefined if it is not allowed. */
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

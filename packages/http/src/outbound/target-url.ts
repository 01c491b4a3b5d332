/**
 * Checks configured target URLs after parsing, so that decimal, octal and full-width hosts count as the address that
 * they mean. Names are not looked up here, because only the addresses at the time of connecting count.
 */
import { isIP } from 'node:net';
import { isLoopbackHost, withoutBrackets } from '@cardea/runtime';
import { type AddressGuard, addressGuard } from './address-guard.ts';

export type UrlRule =
  | 'syntax'
  | 'length'
  | 'https'
  | 'userinfo'
  | 'fragment'
  | 'host'
  | 'private_address';

export type UrlVerdict = { readonly url: URL } | { readonly rule: UrlRule };

export type UrlPolicy = {
  /** Unset means production. */
  readonly env: 'development' | 'production' | undefined;
  readonly allowedCidrs: readonly string[];
};

export const URL_MAX_CHARS = 2_048;

const NOT_PRINTABLE = /[\p{Cc} ]/u;
/** An `@` before the path, including an empty userinfo that the parser drops. */
const USERINFO = /^[a-z]+:[\\/]*[^\\/?#]*@/i;
const THIS_HOST = /(^|\.)localhost$/;
const LOCAL_NAMES = /(^|\.)(local|internal|home\.arpa)$/;

export const validateUrl = (text: string, policy: UrlPolicy): UrlVerdict =>
  checkUrl(text, policy.env === 'development', addressGuard(policy.allowedCidrs));

export function checkUrl(text: string, development: boolean, guard: AddressGuard): UrlVerdict {
  if (text.length > URL_MAX_CHARS) return { rule: 'length' };
  // The parser silently drops tabs and line breaks; a URL with such characters is refused.
  const url = NOT_PRINTABLE.test(text) ? null : URL.parse(text);
  if (url === null) return { rule: 'syntax' };
  const here = development && isLoopbackHost(hostOf(url));
  if (url.protocol !== 'https:' && !(here && url.protocol === 'http:')) return { rule: 'https' };
  if (url.username !== '' || url.password !== '' || USERINFO.test(text))
    return { rule: 'userinfo' };
  if (text.includes('#')) return { rule: 'fragment' };
  const rule = here ? undefined : refusedHost(hostOf(url), guard);
  return rule === undefined ? { url } : { rule };
}

/** The host without brackets and without the trailing dot of an absolute name. */
export function hostOf(url: { readonly hostname: string }): string {
  const host = withoutBrackets(url.hostname);
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

function refusedHost(host: string, guard: AddressGuard): 'host' | 'private_address' | undefined {
  if (isIP(host) !== 0) return guard.allows(host) ? undefined : 'private_address';
  if (host === '' || host.split('.').includes('') || THIS_HOST.test(host)) return 'host';
  // An operator's own network may use any name: `receiver`, `receiver.ns.svc.cluster.local`.
  if (guard.hasOwnRanges) return undefined;
  return host.includes('.') && !LOCAL_NAMES.test(host) ? undefined : 'host';
}

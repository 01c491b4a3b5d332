/**
 * Validates addresses to which a browser may be redirected after a sign-in or a sign-out. URIs are compared byte by
 * byte, so only forms that all parsers read alike can be registered, and only those that can be used.
 */
import { FORBIDDEN_SCHEMES, isLoopbackHost, withoutBrackets } from '@cardea/runtime';
import { ANSWER_PARAMETERS } from '../../adapters/answer-parameters.ts';
import type { ApplicationType } from './application.ts';

const URI_CHARACTERS_MAX = 2_048;
/** RFC 3986 characters. Browsers interpret backslashes, spaces and non-ASCII characters in different ways. */
const CHARACTERS = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
const SCHEME = /^[a-z][a-z0-9+.-]*:$/;
/** The path of a URI, after scheme and authority and before the query. */
const PATH = /^[^:]+:(?:\/\/[^/?]*)?([^?]*)/;
const LOOPBACKS: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]']);
const LOCALHOST = 'localhost';

/** The rule that a URI breaks: `details.rule` of 400 `invalid_redirect_uri`. */
export type RedirectRule =
  | 'too_long'
  | 'characters'
  | 'not_absolute'
  | 'fragment'
  | 'wildcard'
  | 'user_name'
  | 'dot_segment'
  | 'encoded_separator'
  | 'reserved_parameter'
  | 'not_canonical'
  | 'http_host'
  | 'https_host'
  | 'scheme';
export type RedirectKind = 'https' | 'loopback' | 'development' | 'private_use';
type CheckedUri = { readonly kind: RedirectKind } | { readonly rule: RedirectRule };

export type RedirectClient = {
  /** `document`: a self-described client with a metadata document. */
  readonly type: ApplicationType | 'document';
  /** Whether the application's or the deployment's environment is `development`. */
  readonly isDevelopment: boolean;
};

/** Returns the kind of the client's redirect or post-logout URI, or the rule that the URI breaks. */
export function checkRedirectUri(text: string, client: RedirectClient): CheckedUri {
  const rule = rulesOfText(text);
  if (rule !== undefined) return { rule };
  const url = URL.parse(text);
  if (url === null) return { rule: 'not_absolute' };
  if (!isAsWritten(text, url)) return { rule: 'not_canonical' };
  const isNative = client.type === 'native' || client.type === 'document';
  switch (url.protocol) {
    case 'https:':
      // A native application claims a host of its vendor (RFC 8252, 7.2). Nobody owns the loopback host.
      return isNative && isLocal(url.hostname) ? { rule: 'https_host' } : { kind: 'https' };
    case 'http:':
      if (LOOPBACKS.has(url.hostname)) return { kind: 'loopback' };
      if (url.hostname !== LOCALHOST) return { rule: 'http_host' };
      if (isNative) return { kind: 'loopback' };
      return client.isDevelopment ? { kind: 'development' } : { rule: 'http_host' };
    default:
      return isNative && SCHEME.test(url.protocol) && !FORBIDDEN_SCHEMES.has(url.protocol)
        ? { kind: 'private_use' }
        : { rule: 'scheme' };
  }
}

export type RedirectWarning = 'scheme_not_owned';

/** Any application may claim a scheme. A scheme without a dot is not a reversed domain name (RFC 8252, 7.1). */
export const redirectWarnings = (uris: readonly string[]): readonly RedirectWarning[] =>
  uris.some((uri) => !WEB.test(uri) && !uri.slice(0, uri.indexOf(':')).includes('.'))
    ? ['scheme_not_owned']
    : [];
const WEB = /^https?:/;

/** Whether any program on the device could receive redirects to this URI (RFC 8252, 8.6). */
export function isOwnerUnknown(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== 'https:' && (protocol !== 'http:' || isLocal(hostname));
}

const isLocal = (hostname: string): boolean => isLoopbackHost(withoutBrackets(hostname));

/** Rules that apply to URIs of every kind. Rules about the path do not apply to the query. */
function rulesOfText(text: string): RedirectRule | undefined {
  if (text.length > URI_CHARACTERS_MAX) return 'too_long';
  if (!CHARACTERS.test(text)) return 'characters';
  if (text.includes('#')) return 'fragment';
  if (text.includes('*')) return 'wildcard';
  const [beforeQuery = ''] = text.split('?', 1);
  if (beforeQuery.includes('@')) return 'user_name';
  const [, path = ''] = PATH.exec(text) ?? [];
  if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) return 'dot_segment';
  // An encoded control character or separator in the path or the host, which only some parsers decode.
  if (/%(?:2f|5c|0|1|7f)/i.test(beforeQuery)) return 'encoded_separator';
  const query = new URLSearchParams(text.slice(beforeQuery.length));
  return ANSWER_PARAMETERS.some((name) => query.has(name)) ? 'reserved_parameter' : undefined;
}

/** Whether the parser left scheme, host and port unchanged. It may add the slash of an empty path. */
const isAsWritten = (text: string, url: URL): boolean =>
  url.href === text || (url.pathname === '/' && url.href === withSlash(text));

const withSlash = (text: string): string => {
  const query = text.indexOf('?');
  return query === -1 ? `${text}/` : `${text.slice(0, query)}/${text.slice(query)}`;
};

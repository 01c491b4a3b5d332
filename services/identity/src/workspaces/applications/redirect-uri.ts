/**
 * Where the answer of a sign-in may be sent. A redirect URI is compared byte by byte, so only forms that
 * everybody reads alike are registered: no wildcard, no fragment, no user name, nothing to normalize.
 */
import type { ApplicationType } from './application.ts';

const URI_CHARACTERS_MAX = 2_048;
/** RFC 3986 characters; a backslash, a space or a non-ASCII character is read differently by browsers. */
const CHARACTERS = /^[A-Za-z0-9\-._~:/?[\]@!$&'()+,;=%]+$/;
/** `com.example.app:/callback`: a domain that the app's maker has, in reverse (RFC 8252). */
const REVERSE_DOMAIN_SCHEME = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:$/;
const LOOPBACK = ['127.0.0.1', '[::1]'];

type Allowed = {
  readonly type: ApplicationType;
  /** `localhost` names a loopback address there, by whatever the machine resolves. */
  readonly isDevelopment: boolean;
};

export function isRedirectUri(text: string, { type, isDevelopment }: Allowed): boolean {
  const url = plainUrl(text);
  if (url === undefined) return false;
  if (url.protocol === 'https:') return url.hostname !== '' && isAsWritten(text, url);
  if (url.protocol === 'http:') {
    const isLocal = isDevelopment && url.hostname === 'localhost';
    return (LOOPBACK.includes(url.hostname) || isLocal) && isAsWritten(text, url);
  }
  return type === 'native' && REVERSE_DOMAIN_SCHEME.test(url.protocol) && url.host === '';
}

function plainUrl(text: string): URL | undefined {
  if (text.length > URI_CHARACTERS_MAX || !CHARACTERS.test(text)) return undefined;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || text.includes('@')) {
    return undefined;
  }
  return hasDotSegment(text) || /%(?:2e|2f|5c|0)/i.test(text) ? undefined : url;
}

const hasDotSegment = (text: string): boolean => /\/\.{1,2}(?:[/?]|$)/.test(text);

/** The parser changed neither scheme, host nor port; it may add the slash of an empty path. */
const isAsWritten = (text: string, url: URL): boolean =>
  url.href === text || (url.pathname === '/' && url.href === withSlash(text));

const withSlash = (text: string): string => {
  const query = text.indexOf('?');
  return query === -1 ? `${text}/` : `${text.slice(0, query)}/${text.slice(query)}`;
};

/**
 * The one cookie of all pages: an access token and a secret for forms, encrypted under a key that all services share.
 * With the key alone nobody can create a token, because identity signs tokens.
 */
import { randomBytes } from 'node:crypto';
import { type DerivedKeys, hmac, openCookie, sameBytes, sealCookie } from '@cardea/crypto';
import { computedOnce } from '@cardea/runtime';

export type PageCookie = {
  readonly token: string;
  /** The form tokens of this sign-in are derived from it. */
  readonly nonce: string;
};

type Headers = { readonly [name: string]: string | undefined };

const AAD = ['pages'];
const NONCE_BYTES = 16;
/** How long a browser keeps the position of its last change, so that the next page shows the change on any replica. */
const SEEN_SECONDS = 60;
/** How long a browser may show the page of a secret again by posting its form again. */
const ONCE_SECONDS = 600;
const ONCE_MAX = 8;

export type PageCookies = ReturnType<typeof pageCookies>;

export function pageCookies(keys: DerivedKeys, { PUBLIC_URL }: { readonly PUBLIC_URL: string }) {
  const isSecure = PUBLIC_URL.startsWith('https:');
  const prefix = isSecure ? '__Host-' : '';
  const attributes = `Path=/; ${isSecure ? 'Secure; ' : ''}HttpOnly; SameSite=Lax`;
  const [name, seenName] = [`${prefix}cardea`, `${prefix}cardea_seen`];
  const onceName = `${prefix}cardea_once`;
  const shownKeys = (headers: Headers): readonly string[] =>
    (cookieOf(headers, onceName) ?? '').split(',').filter((key) => key !== '');
  /** Undefined if it was made under another key. */
  const opened = (value: string): PageCookie | undefined => {
    const text = openCookie(value, AAD, keys);
    return text === undefined ? undefined : JSON.parse(text);
  };
  const set = (of: string, value: string, more = '') => `${of}=${value}; ${attributes}${more}`;
  return {
    /** Creates the cookie of a new sign-in. */
    begun: (token: string): PageCookie => ({
      token,
      nonce: randomBytes(NONCE_BYTES).toString('base64url'),
    }),
    /** The encrypted cookie. Undefined if there is none. */
    sealed: (headers: Headers): string | undefined => cookieOf(headers, name),
    opened,
    /** Undefined if there is none, or if it was made under another key. */
    read: (headers: Headers): PageCookie | undefined => {
      const value = cookieOf(headers, name);
      return value === undefined ? undefined : opened(value);
    },
    /** The `Set-Cookie` value. The cookie lasts as long as the browser's own session. */
    written: (cookie: PageCookie): string =>
      set(name, sealCookie(JSON.stringify(cookie), AAD, keys)),
    /** The position of the service's log that this browser has seen, for `X-Service-Consistency`. */
    seen: (headers: Headers): string | undefined => cookieOf(headers, seenName),
    writtenSeen: (position: string): string => set(seenName, position, `; Max-Age=${SEEN_SECONDS}`),
    /** Whether the response of the form with this key was shown in this browser. */
    wasShown: (headers: Headers, key: string | undefined): boolean =>
      key !== undefined && shownKeys(headers).includes(key),
    writtenShown: (headers: Headers, key: string | undefined): readonly string[] =>
      key === undefined
        ? []
        : [
            set(
              onceName,
              [key, ...shownKeys(headers)].slice(0, ONCE_MAX).join(','),
              `; Max-Age=${ONCE_SECONDS}`,
            ),
          ],
    ended: (): readonly string[] =>
      [name, seenName, onceName].map((each) => set(each, '', '; Max-Age=0')),
  };
}

function cookieOf({ cookie = '' }: Headers, name: string): string | undefined {
  for (const pair of cookie.split(';')) {
    const mark = pair.indexOf('=');
    if (mark === -1 || pair.slice(0, mark).trim() !== name) continue;
    const value = pair.slice(mark + 1).trim();
    if (/^[\w.,-]+$/.test(value)) return value;
  }
  return undefined;
}

/**
 * Reads the claims without verification. One of our services encrypted the cookie, so identity has signed its token.
 */
export const pageClaims = ({ token }: PageCookie): PageClaims =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

export type PageClaims = {
  /** When the person signed in, and when the token expires, both in Unix seconds. */
  readonly auth_time: number;
  readonly exp: number;
  readonly sid: string;
  readonly sub: string;
  readonly tid: string;
};

type FormTokens = (path: string) => string;
/**
 * The maximum number of cached form tokens. A person opens few pages while their cookie is cached. Further tokens are
 * computed again.
 */
const FORM_TOKENS_MAX = 100;
/** A page has several forms, all with the token of its path, and the form of the sign-out. */
const formTokens = new WeakMap<PageCookie, FormTokens>();

/** Proves that a form was shown to this sign-in, at this path. */
export function formToken(cookie: PageCookie, path: string): string {
  const tokens = formTokens.get(cookie) ?? formTokensOf(cookie);
  formTokens.set(cookie, tokens);
  return tokens(path);
}

function formTokensOf({ nonce }: PageCookie): FormTokens {
  const key = Buffer.from(nonce, 'base64url');
  const byPath = computedOnce<string, string>(FORM_TOKENS_MAX);
  return (path) => byPath(path, () => hmac(key, 'form', path).toString('base64url'));
}

export const isFormToken = (shown: string, cookie: PageCookie, path: string): boolean =>
  sameBytes(shown, formToken(cookie, path));

/**
 * Whether a page of ours posted the form. Browsers send the origin with every form, and modern ones also whether it is
 * the same site. A client that sends neither is no browser.
 */
export function isOwnForm(
  { origin, 'sec-fetch-site': site }: Headers,
  origins: readonly string[],
): boolean {
  if (site !== undefined && site !== 'same-origin') return false;
  return origin !== undefined && origins.includes(origin);
}

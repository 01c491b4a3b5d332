/** The viewer of a page: the sign-in in the browser's cookie, renewed if its token is about to expire. */
import { type DerivedKeys, sha256 } from '@cardea/crypto';
import { type Clock, expiringCache } from '@cardea/runtime';
import { type PageClaims, type PageCookie, pageClaims, pageCookies } from './page-cookie.ts';

/** If less than this is left of a token, it is renewed first, so that it does not expire before the next click. */
const RENEWED_BEFORE_MS = 60_000;

/**
 * A browser sends its cookie with each page, part, poll and form. It is decrypted once a minute for each page. Whether
 * its sign-in has ended is checked each time.
 */
const COOKIES = { entriesMax: 200, ttlMs: 60_000 } as const;

type OpenedCookie = { readonly cookie: PageCookie; readonly claims: PageClaims };

export type Visit = {
  readonly cookie: PageCookie;
  readonly tenantId: string;
  readonly userId: string;
  /** The `Set-Cookie` values of the response. */
  readonly cookies: readonly string[];
};

export type VisitDependencies = {
  readonly pageKeys: DerivedKeys;
  readonly settings: { readonly PUBLIC_URL: string; readonly ISSUER: string };
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** This process's copy of the revocation list. */
  readonly revocations: { readonly isRevoked: (kind: 'sid', id: string) => boolean };
  /** Asks identity which of these sign-ins have ended. */
  readonly ended: (request: {
    readonly marks: readonly { readonly kind: 'sid'; readonly id: string }[];
  }) => Promise<{ readonly ended: readonly boolean[] }>;
  /** Asks identity for a new token. Null if the sign-in has ended. */
  readonly renew: (asked: { readonly token: string }) => Promise<{ readonly token: string | null }>;
};

type Headers = { readonly [name: string]: string | undefined };

export function visits(given: VisitDependencies) {
  const { pageKeys, settings, clock, renew, revocations } = given;
  const cookies = pageCookies(pageKeys, settings);
  /** Opened cookies are cached by digest, so the cache contains no cookie that a browser could send. */
  const openedCookies = expiringCache<string, OpenedCookie>(clock, COOKIES);
  const openedCookie = (headers: Headers): OpenedCookie | undefined => {
    const sealed = cookies.sealed(headers);
    if (sealed === undefined) return undefined;
    const digest = sha256(sealed).toString('base64url');
    const known = openedCookies.get(digest);
    if (known !== undefined) return known;
    const cookie = cookies.opened(sealed);
    if (cookie === undefined) return undefined;
    const opened = { cookie, claims: pageClaims(cookie) };
    openedCookies.set(digest, opened);
    return opened;
  };
  /**
   * Returns undefined if nobody is signed in. For a change, asks identity itself whether the sign-in is still valid.
   */
  const open = async (headers: Headers, isChange = false): Promise<Visit | undefined> => {
    const opened = openedCookie(headers);
    if (opened === undefined) return undefined;
    const { cookie, claims } = opened;
    const { exp, sid, sub: userId, tid: tenantId } = claims;
    if (revocations.isRevoked('sid', sid)) return undefined;
    if (isChange && (await given.ended({ marks: [{ kind: 'sid', id: sid }] })).ended[0]) {
      return undefined;
    }
    const leftMs = exp * 1_000 - clock.now().getTime();
    if (leftMs >= RENEWED_BEFORE_MS) return { cookie, tenantId, userId, cookies: [] };
    const { token } = await renew({ token: cookie.token });
    if (token === null) return undefined;
    const renewed = { ...cookie, token };
    return { cookie: renewed, tenantId, userId, cookies: [cookies.written(renewed)] };
  };
  /** Gives the browser the new token, which contains the time of the confirmation. */
  const confirmed = (visit: Visit, token: string): Visit => {
    const cookie = { ...visit.cookie, token };
    return { ...visit, cookie, cookies: [cookies.written(cookie)] };
  };
  const { seen, writtenSeen, wasShown, writtenShown } = cookies;
  return { open, confirmed, seen, writtenSeen, wasShown, writtenShown };
}

/** Who looks at a page: the sign-in in the browser's cookie, renewed where its token is about to end. */
import type { DerivedKeys } from '@cardea/crypto';
import { type PageCookie, pageClaims, pageCookies } from './page-cookie.ts';

/** Less than this is left of a token: it is renewed first, so that no press of a button meets its end. */
const RENEWED_BEFORE_MS = 60_000;

export type Visit = {
  readonly cookie: PageCookie;
  readonly tenantId: string;
  readonly userId: string;
  /** What the browser has to be sent with the answer. */
  readonly cookies: readonly string[];
};

export type VisitDependencies = {
  readonly pageKeys: DerivedKeys;
  readonly settings: { readonly PUBLIC_URL: string; readonly ISSUER: string };
  readonly clock: { readonly now: () => Date };
  /** This process's copy of what was revoked. */
  readonly revocations: { readonly isRevoked: (kind: 'sid', id: string) => boolean };
  /** Asks identity which of these sign-ins are over. */
  readonly ended: (request: {
    readonly marks: readonly { readonly kind: 'sid'; readonly id: string }[];
  }) => Promise<{ readonly ended: readonly boolean[] }>;
  /** Asks identity; null: the sign-in is over. */
  readonly renew: (asked: { readonly token: string }) => Promise<{ readonly token: string | null }>;
};

type Headers = { readonly [name: string]: string | undefined };

export function visits(given: VisitDependencies) {
  const { pageKeys, settings, clock, renew, revocations } = given;
  const cookies = pageCookies(pageKeys, settings);
  /** Undefined where nobody is signed in. A change asks identity itself whether the sign-in goes on. */
  const open = async (headers: Headers, isChange = false): Promise<Visit | undefined> => {
    const cookie = cookies.read(headers);
    if (cookie === undefined) return undefined;
    const { exp, sid, sub: userId, tid: tenantId } = pageClaims(cookie);
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
  /** The sign-in was confirmed: the browser gets the token that shows it. */
  const confirmed = (visit: Visit, token: string): Visit => {
    const cookie = { ...visit.cookie, token };
    return { ...visit, cookie, cookies: [cookies.written(cookie)] };
  };
  const { seen, writtenSeen, wasShown, writtenShown } = cookies;
  return { open, confirmed, seen, writtenSeen, wasShown, writtenShown };
}

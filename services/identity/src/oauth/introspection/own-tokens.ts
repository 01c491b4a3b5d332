/** Verifies tokens that this deployment signed, for any resource. */
import { importPublicJwk, type PublicJwk, type VerifiedClaims, verifyToken } from '@cardea/auth';
import { sha256 } from '@cardea/crypto';
import { type Clock, expiringCache, type Settings } from '@cardea/runtime';

type PublicKey = NonNullable<ReturnType<typeof importPublicJwk>>['publicKey'];
type Verified = { readonly own: OwnToken; readonly kid: unknown };
type PublicKeys = { readonly keys: readonly PublicJwk[] };

export type OwnToken = {
  readonly tokenClass: 'access' | 'capability';
  readonly claims: VerifiedClaims;
};
/**
 * Returns undefined for a token that no key of the ring signed, that has expired or that is of another class. For some
 * time the same token yields the same object, so callers can cache facts by that object.
 */
export type VerifyOwn = (token: string) => Promise<OwnToken | undefined>;

type Dependencies = {
  readonly settings: Pick<Settings, 'ISSUER'>;
  readonly clock: Clock;
  /** The public keys as this process has cached them, and as the log has them. */
  readonly jwks: () => PublicKeys;
  readonly latestJwks: () => Promise<PublicKeys>;
};

const CLASSES = ['access', 'capability'] as const;
const VERIFIED_MAX = 25_000;
const VERIFIED_MS = 60_000;
/** An unknown key id causes at most one reload of the key ring in this time. */
const READ_AGAIN_MS = 30_000;

export function ownTokens({ settings, clock, jwks, latestJwks }: Dependencies): VerifyOwn {
  const imported = new WeakMap<PublicJwk, PublicKey>();
  const verified = expiringCache<string, Verified>(clock, {
    entriesMax: VERIFIED_MAX,
    ttlMs: VERIFIED_MS,
  });
  let readMs = Number.NEGATIVE_INFINITY;
  const keyOf = (kid: string): PublicKey | undefined => {
    const jwk = jwks().keys.find((key) => key.kid === kid);
    if (jwk === undefined) return undefined;
    const key = imported.get(jwk) ?? importPublicJwk(jwk)?.publicKey;
    if (key !== undefined) imported.set(jwk, key);
    return key;
  };
  const check = (token: string): OwnToken | 'unknown_key' | undefined => {
    const nowSeconds = clock.now().getTime() / 1000;
    for (const tokenClass of CLASSES) {
      const of = { tokenClass, issuer: settings.ISSUER, keyOf, nowSeconds };
      const read = verifyToken(token, { ...of, anyAudience: true });
      if ('ok' in read) return { tokenClass, claims: read.ok };
      if (read.bad === 'unknown_key') return 'unknown_key';
    }
    return undefined;
  };
  return async (token) => {
    const name = sha256(token).toString('base64url');
    const known = verified.get(name);
    const isKept = known !== undefined && jwks().keys.some(({ kid }) => kid === known.kid);
    if (isKept && clock.now().getTime() / 1000 < known.own.claims.exp) return known.own;
    let read = check(token);
    if (read === 'unknown_key' && clock.monotonicMs() - readMs >= READ_AGAIN_MS) {
      readMs = clock.monotonicMs();
      await latestJwks();
      read = check(token);
    }
    if (read === 'unknown_key' || read === undefined) return undefined;
    verified.set(name, { own: read, kid: kidOf(token) });
    return read;
  };
}

/** The key id of a verified token. */
const kidOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString()).kid;

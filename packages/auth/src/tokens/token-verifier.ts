import { hash } from 'node:crypto';
import { type Cache, type Clock, expiringCache } from '@cardea/runtime';
import type { Revocation, RevocationKind, Revocations } from '../principal.ts';
import { callerOf, isOfMachine, type TokenCaller } from '../principal-of.ts';
import { type JwkSet, keySet } from './key-set.ts';
import type { TokenClass, VerifiedClaims } from './token-claims.ts';
import { type Verified, verifyToken } from './verify-token.ts';

const CACHED_TOKENS_MAX = 25_000;
const CACHED_TOKEN_MS = 60_000;
/** The channel of notices that the signing keys changed. Every process then drops its keys and its verified tokens. */
export const KEYS_CHANGED = 'keys:changed';

export type TokenVerifierDependencies = {
  readonly jwks: () => Promise<JwkSet>;
  readonly issuer: string;
  readonly clock: Clock;
  readonly revocations: LiveRevocations;
};

/** `caller` is empty for a token of another class than `access`. */
export type Accepted =
  | { readonly ok: VerifiedClaims; readonly caller: TokenCaller }
  | Exclude<Verified, { ok: unknown } | { bad: 'unknown_key' }>;

/** Caches use digests of credentials as keys, so that no cache contains a credential. */
export const credentialDigest = (credential: string): string =>
  hash('sha256', credential, 'base64url');

export interface TokenVerifier {
  /**
   * Works like `verifyToken`, and also checks that an access token is not revoked. An unknown key is fetched at most
   * once in 30 s. Throws only when no keys can be obtained at all. Returns a promise only if keys or revocations have
   * to be fetched.
   */
  verify(
    tokenClass: TokenClass,
    token: string,
    /** The digest of the token, if the caller has computed it already. */
    digest?: string,
  ): Accepted | Promise<Accepted>;
  /**
   * Call it with each token that this process signs, so that the first request with the token needs no check of its
   * signature.
   */
  signedHere(token: string): void;
  /** Forgets keys and verified tokens. */
  drop(): void;
}

/** A token, and the revocations that would end it. Both stay the same for as long as it is cached. */
type VerifiedToken = {
  readonly accepted: Extract<Accepted, { ok: unknown }>;
  readonly revokedBy: readonly Revocation[];
};

const NOBODY: TokenCaller = { principal: undefined, thumbprint: undefined };
const INVALID = { bad: 'invalid' } as const;

/** The process's own copy of the revocation list, and the live source to ask if the copy is not complete. */
export type LiveRevocations = Pick<Revocations, 'isRevoked' | 'subscriptionEpoch' | 'look'>;

/** The public keys, the recently verified tokens, and the revocation list: what a service needs to accept a token. */
export function tokenVerifier(needs: TokenVerifierDependencies): TokenVerifier {
  const { clock, issuer, revocations } = needs;
  const keys = keySet(needs.jwks, clock);
  const asLong = { entriesMax: CACHED_TOKENS_MAX, ttlMs: CACHED_TOKEN_MS };
  const seen = expiringCache<string, VerifiedToken>(clock, asLong);
  /** Verified tokens by digest. Whether their key is still in the set is checked each time. */
  const signed = expiringCache<string, true>(clock, asLong);
  let drops = 0;

  const verified = async (
    tokenClass: TokenClass,
    token: string,
    digest: string,
  ): Promise<Verified> => {
    const by = { tokenClass, issuer, keyOf: keys.held, isSignedHere: signed.get(digest) === true };
    const check = (): Verified =>
      verifyToken(token, { ...by, nowSeconds: clock.now().getTime() / 1000 });
    const first = check();
    if ('ok' in first || first.bad !== 'unknown_key') return first;
    return (await keys.find(first.kid)) === undefined ? first : check();
  };

  /** Ending a user's session does not revoke its access token, which expires on its own. */
  const unlessRevoked = ({ accepted, revokedBy }: VerifiedToken): Accepted | Promise<Accepted> => {
    for (const { kind, id, at } of revokedBy) {
      if (revocations.isRevoked(kind, id, at)) return INVALID;
    }
    if (revokedBy.length === 0 || revocations.subscriptionEpoch() !== undefined) return accepted;
    return revocations
      .look(revokedBy)
      .then(({ revoked }) => (revoked.includes(true) ? INVALID : accepted));
  };
  const verifiedAnew = async (
    tokenClass: TokenClass,
    token: string,
    digest: string,
  ): Promise<Accepted> => {
    const before = drops;
    const result = await verified(tokenClass, token, digest);
    if ('bad' in result) return result.bad === 'unknown_key' ? INVALID : result;
    const claims = result.ok;
    const isAccess = tokenClass === 'access';
    const found: VerifiedToken = {
      accepted: { ok: claims, caller: isAccess ? callerOf(claims) : NOBODY },
      // Vending distinguishes an ended session from a bad token and checks both live, so a revocation ends only access
      // tokens here.
      revokedBy: isAccess ? revocationsOf(claims) : [],
    };
    if (before === drops) seen.set(`${tokenClass} ${digest}`, found);
    return unlessRevoked(found);
  };

  return {
    verify: (tokenClass, token, digest = credentialDigest(token)) => {
      const found = seen.get(`${tokenClass} ${digest}`);
      if (found === undefined) return verifiedAnew(tokenClass, token, digest);
      const { ok: claims } = found.accepted;
      // As in `verifyToken`, the expiry has no clock tolerance.
      if (clock.now().getTime() / 1000 >= claims.exp) return { bad: 'expired', claims };
      return unlessRevoked(found);
    },
    signedHere: (token) => signed.set(credentialDigest(token), true),
    drop: () => {
      drops += 1;
      keys.drop();
      seen.clear();
      signed.clear();
    },
  };
}

/** Drops the verifier's caches whenever keys were removed, or may have been. Returns a function that stops this. */
export const dropOnKeysChanged = (
  verifier: TokenVerifier,
  cache: Cache,
): Promise<() => Promise<void>> =>
  cache.subscribe(KEYS_CHANGED, () => verifier.drop(), {
    lost: () => {},
    healed: () => verifier.drop(),
  });

/**
 * The revocations that end a token before it expires, except those of its session and its consent, which only
 * introspection checks.
 */
export function revocationsOf(claims: VerifiedClaims): readonly Revocation[] {
  const list: Revocation[] = [];
  const add = (kind: RevocationKind, id: unknown, at?: number) => {
    if (typeof id === 'string') list.push(at === undefined ? { kind, id } : { kind, id, at });
  };
  const actor = (claims['act'] as { sub?: unknown } | undefined)?.sub;
  add('tenant', claims.tid);
  add(isOfMachine(claims) ? 'key' : 'user', claims.sub);
  add('user', actor);
  add('agent', claims['agent_id']);
  add('asid', claims['agent_session_id']);
  // An agent's token has no roles, so none can be removed.
  if (claims['agent_id'] === undefined) {
    add('rank', claims.sub, claims.iat);
    add('rank', actor, claims.iat);
  }
  return list;
}

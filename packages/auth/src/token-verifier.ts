import { sha256 } from '@cardea/crypto';
import { type Cache, type Clock, expiringCache } from '@cardea/runtime';
import { type JwkSet, keySet } from './key-set.ts';
import type { Revocation, RevocationKind, Revocations } from './principal.ts';
import type { TokenClass, VerifiedClaims } from './token-claims.ts';
import { isExpired, type Verified, verifyToken } from './verify-token.ts';

const CACHED_TOKENS_MAX = 25_000;
const CACHED_TOKEN_MS = 60_000;
/** Notice that the signing keys changed: every process drops its keys and its verified tokens. */
export const KEYS_CHANGED = 'keys:changed';

export type TokenVerifierDependencies = {
  readonly jwks: () => Promise<JwkSet>;
  readonly issuer: string;
  readonly clock: Clock;
  readonly revocations: LiveRevocations;
};

export type Accepted = Exclude<Verified, { bad: 'unknown_key' }>;

export interface TokenVerifier {
  /**
   * As `verifyToken`, and an access token also not revoked; a key that is not known is looked for once in 30 s. Throws only
   * when no keys can be had at all.
   */
  verify(tokenClass: TokenClass, token: string): Promise<Accepted>;
  /** Forgets keys and verified tokens. */
  drop(): void;
}

/** The process's own copy of the revocation list, and whom to ask where that is not complete. */
export type LiveRevocations = Pick<Revocations, 'isMarked' | 'stretch' | 'look'>;

/**
 * The public keys, the recently verified tokens, and the revocation list: what a service needs to accept
 * a token.
 */
export function tokenVerifier(needs: TokenVerifierDependencies): TokenVerifier {
  const { clock, issuer, revocations } = needs;
  const keys = keySet(needs.jwks, clock);
  const seen = expiringCache<string, VerifiedClaims>(clock, {
    entriesMax: CACHED_TOKENS_MAX,
    ttlMs: CACHED_TOKEN_MS,
  });
  let drops = 0;
  const nowSeconds = (): number => clock.now().getTime() / 1000;

  const verified = async (tokenClass: TokenClass, token: string): Promise<Verified> => {
    const check = (): Verified =>
      verifyToken(token, { tokenClass, issuer, keyOf: keys.held, nowSeconds: nowSeconds() });
    const first = check();
    if ('ok' in first || first.bad !== 'unknown_key') return first;
    return (await keys.find(first.kid)) === undefined ? first : check();
  };

  // Vending distinguishes an ended session from a bad token, and looks both up live; so a revocation
  // ends only access tokens here.
  const believed = async (tokenClass: TokenClass, claims: VerifiedClaims): Promise<Accepted> =>
    tokenClass === 'access' && (await isRevoked(claims, revocations))
      ? { bad: 'invalid' }
      : { ok: claims };

  return {
    verify: async (tokenClass, token) => {
      const name = `${tokenClass} ${sha256(token).toString('base64url')}`;
      const claims = seen.get(name);
      if (claims !== undefined) {
        if (isExpired(claims, nowSeconds())) return { bad: 'expired', claims };
        return believed(tokenClass, claims);
      }
      const before = drops;
      const result = await verified(tokenClass, token);
      if ('bad' in result) return result.bad === 'unknown_key' ? { bad: 'invalid' } : result;
      if (before === drops) seen.set(name, result.ok);
      return believed(tokenClass, result.ok);
    },
    drop: () => {
      drops += 1;
      keys.drop();
      seen.clear();
    },
  };
}

/** Drops what the verifier holds whenever keys were removed, or may have been; answers how to stop listening. */
export const dropOnKeysChanged = (
  verifier: TokenVerifier,
  cache: Cache,
): Promise<() => Promise<void>> =>
  cache.subscribe(KEYS_CHANGED, () => verifier.drop(), {
    lost: () => {},
    healed: () => verifier.drop(),
  });

/** Ending a user's session does not revoke its access token: that one expires by itself. */
async function isRevoked(claims: VerifiedClaims, revocations: LiveRevocations): Promise<boolean> {
  const act = claims['act'] as { sub?: unknown } | undefined;
  const named: readonly (readonly [RevocationKind, unknown])[] = [
    ['user', claims.sub],
    ['user', act?.sub],
    ['agent', claims['agent_id']],
    ['asid', claims['agent_session_id']],
    // An agent's token has no roles, so none can be taken from it.
    ...(claims['agent_id'] === undefined
      ? ([
          ['rank', claims.sub],
          ['rank', act?.sub],
        ] as const)
      : []),
  ];
  const marks = named.flatMap(([kind, id]): Revocation[] => {
    if (typeof id !== 'string') return [];
    return [kind === 'rank' ? { kind, id, at: claims.iat } : { kind, id }];
  });
  if (marks.some(({ kind, id, at }) => revocations.isMarked(kind, id, at))) return true;
  if (revocations.stretch() !== undefined) return false;
  return (await revocations.look(marks)).marked.includes(true);
}

/**
 * The signed token of a sign-in whose second factor is due. Only endpoints that take it in the body accept it, because
 * no bearer token may have its type and audience.
 */
import {
  type CommonClaims,
  importPublicJwk,
  type PublicJwk,
  type SignToken,
  TOKEN_CLASSES,
  verifyToken,
} from '@cardea/auth';
import type { Clock, Ids, Settings } from '@cardea/runtime';
import type { ExistingUser } from '../../accounts/accounts.module.ts';
import type { SessionOrigin } from '../../sessions/sessions.module.ts';
import type { Factor, SecondDue } from './attempt.ts';

export const MFA_TOKEN_SECONDS = 300;

/** `jti` becomes the id of the session. */
export type MfaClaims = CommonClaims & {
  readonly via: SessionOrigin;
  readonly first: Factor;
  readonly due: Exclude<SecondDue, 'none'>;
  /** The user's epoch. Whatever ends all sessions also ends this sign-in. */
  readonly epoch: number;
  readonly app_id?: string;
};

export type MfaTokens = {
  readonly issue: (
    of: Pick<MfaClaims, 'via' | 'first' | 'due'> & {
      readonly user: ExistingUser;
      readonly tenantId: string;
      readonly appId: string | null;
      readonly readAt: Date;
    },
  ) => { readonly token: string; readonly expiresIn: number };
  readonly read: (
    token: string,
  ) => Promise<{ readonly ok: MfaClaims } | { readonly bad: 'invalid' | 'expired' }>;
};

type PublicKeys = { readonly keys: readonly PublicJwk[] };

type Dependencies = {
  readonly settings: Pick<Settings, 'ISSUER'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly sign: SignToken;
  /** The public keys as this process has cached them, and as the log has them. */
  readonly jwks: () => PublicKeys;
  readonly latestJwks: () => Promise<PublicKeys>;
};

export function mfaTokens(needs: Dependencies): MfaTokens {
  const { settings, clock, ids, sign } = needs;
  const { typ, audience } = TOKEN_CLASSES.mfa;
  const verified = (token: string, { keys }: PublicKeys) =>
    verifyToken(token, {
      tokenClass: 'mfa',
      issuer: settings.ISSUER,
      nowSeconds: clock.now().getTime() / 1000,
      keyOf: (kid) => {
        const jwk = keys.find((key) => key.kid === kid);
        return jwk === undefined ? undefined : importPublicJwk(jwk)?.publicKey;
      },
    });
  return {
    issue: ({ user, tenantId, appId, readAt, ...sort }) => {
      const issuedAt = Math.floor(readAt.getTime() / 1000);
      const claims: MfaClaims = {
        iss: settings.ISSUER,
        sub: user.id,
        aud: audience(settings.ISSUER),
        iat: issuedAt,
        exp: issuedAt + MFA_TOKEN_SECONDS,
        jti: ids.next(),
        tid: tenantId,
        tenant_id: tenantId,
        ...sort,
        epoch: user.epoch,
        ...(appId === null ? {} : { app_id: appId }),
      };
      return { token: sign(typ, claims), expiresIn: MFA_TOKEN_SECONDS };
    },
    read: async (token) => {
      const first = verified(token, needs.jwks());
      const isOther = 'bad' in first && first.bad === 'unknown_key';
      const read = isOther ? verified(token, await needs.latestJwks()) : first;
      // Only `mfaTokens` signs tokens of this class, so the claims have this type.
      if ('ok' in read) return { ok: read.ok as MfaClaims & typeof read.ok };
      return { bad: read.bad === 'expired' ? 'expired' : 'invalid' };
    },
  };
}

/**
 * The claims of a login's access token (`docs/design/tokens.md`, Token classes); the signer adds key and
 * signature.
 */
import { type LoginClaims, type SignToken, TOKEN_CLASSES } from '@cardea/auth';
import type { Ids, Settings } from '@cardea/runtime';
import type { ExistingUser } from '../accounts/accounts.module.ts';
import type { TenantFacts } from '../workspaces/workspaces.module.ts';

export type AccessTokenOf = {
  readonly user: ExistingUser;
  /**
   * A moment before the user's stream was read. It becomes the token's date, so that a change of rank which
   * the read missed revokes the token.
   */
  readonly readAt: Date;
  /** Null if it was erased. */
  readonly email: string | null;
  readonly tenant: TenantFacts;
  /** Null for sign-ins that create no session. */
  readonly sid: string | null;
  /** Unix seconds. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly appId: string | null;
};

export type AccessTokens = {
  readonly issue: (of: AccessTokenOf) => { readonly token: string; readonly expiresIn: number };
};

export function accessTokens(needs: {
  readonly settings: Pick<Settings, 'ISSUER' | 'JWT_EXPIRY'>;
  readonly ids: Ids;
  readonly sign: SignToken;
}): AccessTokens {
  const { settings, ids, sign } = needs;
  return {
    issue: ({ user, readAt, email, tenant, sid, authTime, amr, appId }) => {
      const issuedAt = Math.max(Math.floor(readAt.getTime() / 1000), user.tokensBefore);
      const { typ, audience } = TOKEN_CLASSES.access;
      const claims: LoginClaims = {
        iss: settings.ISSUER,
        sub: user.id,
        aud: audience(settings.ISSUER),
        iat: issuedAt,
        exp: issuedAt + settings.JWT_EXPIRY,
        jti: ids.next(),
        tid: tenant.id,
        tenant_id: tenant.id,
        org_id: tenant.organizationId,
        email: email ?? '',
        roles: user.roles,
        auth_time: authTime,
        amr,
        ...(appId === null ? {} : { app_id: appId }),
        ...(sid === null ? {} : { sid }),
      };
      return { token: sign(typ, claims), expiresIn: settings.JWT_EXPIRY };
    },
  };
}

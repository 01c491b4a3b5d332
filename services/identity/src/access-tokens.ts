/** What a login's access token says (`design/oauth.md` section 3); the signer adds key and signature. */
import { type LoginClaims, type SignToken, TOKEN_CLASSES } from '@cardea/auth';
import type { Clock, Ids, Settings } from '@cardea/runtime';
import type { TenantFacts } from './tenants/tenant.ts';
import type { ExistingUser } from './users/user.ts';

export type AccessTokenOf = {
  readonly user: ExistingUser;
  /** Null when it was erased. */
  readonly email: string | null;
  readonly tenant: TenantFacts;
  /** Null for sign-ins that leave no session. */
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
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly sign: SignToken;
}): AccessTokens {
  const { settings, clock, ids, sign } = needs;
  return {
    issue: ({ user, email, tenant, sid, authTime, amr, appId }) => {
      const issuedAt = Math.floor(clock.now().getTime() / 1000);
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

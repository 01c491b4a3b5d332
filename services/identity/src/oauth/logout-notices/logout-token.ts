/** The logout token of one attempt (OpenID Connect Back-Channel Logout 1.0, 2.4). */
import type { LogoutSubject } from './logout-notice.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const LOGOUT_TOKEN_SECONDS = 120;
export const LOGOUT_TOKEN_TYP = 'logout+jwt';

/** The token never has a `nonce`, so that no client accepts it as an id_token. */
export const logoutClaims = (
  subject: LogoutSubject,
  of: {
    readonly issuer: string;
    readonly tenantId: string;
    readonly id: string;
    readonly now: Date;
  },
) => {
  const iat = Math.floor(of.now.getTime() / 1_000);
  return {
    iss: of.issuer,
    sub: subject.user_id,
    aud: subject.client_id,
    iat,
    exp: iat + LOGOUT_TOKEN_SECONDS,
    jti: of.id,
    tid: of.tenantId,
    tenant_id: of.tenantId,
    ...(subject.session_id === null ? {} : { sid: subject.session_id }),
    events: { [EVENT]: {} },
  };
};

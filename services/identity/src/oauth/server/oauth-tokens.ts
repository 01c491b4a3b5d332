/** The access tokens and id_tokens of applications (`docs/design/tokens.md`, Token classes). */
import { type SignToken, TOKEN_CLASSES } from '@cardea/auth';
import type { Clock, Ids, Settings } from '@cardea/runtime';
import type { ExistingUser, UserDirectory } from '../../accounts/accounts.module.ts';
import { userClaims } from '../userinfo/user-claims.ts';

export type UserTokenOf = {
  readonly user: ExistingUser;
  readonly tenantId: string;
  readonly clientId: string;
  readonly resource: string;
  /** Space separated, those of the resource. */
  readonly scope: string;
  readonly sid: string;
  /** Unix seconds. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly ttlSeconds: number;
  /** Unix seconds: tokens that an earlier consent let out end before it. */
  readonly notBefore: number;
  /** A moment before the user was read. */
  readonly readAt: Date;
};

export type OAuthTokens = {
  readonly userClaims: (of: UserTokenOf) => Promise<{ readonly [claim: string]: unknown }>;
  readonly clientClaims: (of: {
    readonly tenantId: string;
    readonly clientId: string;
    readonly resource: string;
    readonly scope: string;
    readonly ttlSeconds: number;
  }) => { readonly [claim: string]: unknown };
  readonly signAccess: (claims: object) => string;
  readonly idToken: (of: Omit<UserTokenOf, 'resource' | 'ttlSeconds'>) => Promise<string>;
};

const MS = 1_000;
export const ID_TOKEN_SECONDS = 3_600;

type Dependencies = {
  readonly settings: Pick<Settings, 'ISSUER'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly sign: SignToken;
  readonly userDirectory: Pick<UserDirectory, 'emailOf' | 'open'>;
};

export function oauthTokens({
  settings,
  clock,
  ids,
  sign,
  userDirectory,
}: Dependencies): OAuthTokens {
  const common = (tenantId: string, issuedAt: number, ttlSeconds: number) => ({
    iss: settings.ISSUER,
    iat: issuedAt,
    exp: issuedAt + ttlSeconds,
    jti: ids.next(),
    tid: tenantId,
    tenant_id: tenantId,
  });
  // Dated before the user was read, and after what ended tokens of before.
  const issuedAt = ({
    readAt,
    user,
    notBefore,
  }: Pick<UserTokenOf, 'readAt' | 'user' | 'notBefore'>) =>
    Math.max(Math.floor(readAt.getTime() / MS), user.tokensBefore, notBefore);
  return {
    userClaims: async (of) => {
      const { user, clientId: client_id, scope, sid, authTime: auth_time, amr } = of;
      const scopes = scope.split(' ');
      const email = scopes.includes('email') ? await userDirectory.emailOf(user) : null;
      return {
        ...common(of.tenantId, issuedAt(of), of.ttlSeconds),
        sub: user.id,
        aud: of.resource,
        ...{ client_id, scope, sid, auth_time, amr },
        ...(email === null ? {} : { email }),
        ...(scopes.includes('roles') ? { roles: user.roles } : {}),
      };
    },
    clientClaims: ({ tenantId, clientId: client_id, resource: aud, scope, ttlSeconds }) => {
      const now = Math.floor(clock.now().getTime() / MS);
      return {
        ...common(tenantId, now, ttlSeconds),
        sub: client_id,
        aud,
        client_id,
        scope,
        roles: [],
      };
    },
    signAccess: (claims) => sign(TOKEN_CLASSES.access.typ, claims),
    idToken: async (of) => {
      const { user, clientId: aud, authTime: auth_time, amr } = of;
      const opened = await userDirectory.open(user);
      return sign('JWT', {
        ...common(of.tenantId, issuedAt(of), ID_TOKEN_SECONDS),
        sub: user.id,
        ...{ aud, auth_time, amr },
        ...userClaims(user, opened, of.scope.split(' ')),
      });
    },
  };
}

/** Issues the access tokens and id_tokens of applications (`docs/design/tokens.md`, Token classes). */
import { type SignToken, TOKEN_CLASSES } from '@cardea/auth';
import type { Ids, Settings } from '@cardea/runtime';
import type { ExistingUser, UserDirectory } from '../../accounts/accounts.module.ts';
import type { ClientAlgorithm } from '../../adapters/client-algorithms.ts';
import { leftHalfOfHash } from '../../adapters/key-algorithms.ts';
import type { SignForClient } from '../../signing-keys/signing-keys.module.ts';
import type { ApplicationClaims, ClaimsOfUser } from '../userinfo/application-claims.ts';
import { userClaims } from '../userinfo/user-claims.ts';

export type UserTokenOf = Pick<ClaimsOfUser, 'client' | 'consent'> & {
  readonly user: ExistingUser;
  readonly tenantId: string;
  readonly clientId: string;
  readonly resource: string;
  /** Scopes of the resource, separated by spaces. */
  readonly scope: string;
  /** OpenID Connect scopes that were granted with the token, separated by spaces. */
  readonly openid: string;
  readonly sid: string;
  /** Unix seconds. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly ttlSeconds: number;
  /**
   * The earliest `iat`, in Unix seconds. Tokens of an earlier consent have an older `iat`, which is how they are
   * revoked.
   */
  readonly notBefore: number;
  /** A moment before the user was read from its stream. */
  readonly readAt: Date;
  /** The thumbprint of the key to which the token is bound. */
  readonly thumbprint: string | undefined;
};

export type IdTokenOf = Omit<UserTokenOf, 'openid' | 'resource' | 'thumbprint' | 'ttlSeconds'> & {
  readonly alg: ClientAlgorithm;
  /** The access token from which `at_hash` is computed. */
  readonly accessToken: string;
  /** The `nonce` of the authorization request. A refresh has none. */
  readonly nonce?: string | undefined;
};

export type OAuthTokens = {
  readonly userClaims: (of: UserTokenOf) => Promise<{ readonly [claim: string]: unknown }>;
  readonly clientClaims: (of: {
    readonly tenantId: string;
    readonly clientId: string;
    readonly resource: string;
    readonly scope: string;
    readonly roles: readonly string[];
    readonly ttlSeconds: number;
    /** A moment before the client was read from its stream. */
    readonly readAt: Date;
    /** The earliest `iat`, in Unix seconds. Older tokens of the client are revoked. */
    readonly notBefore: number;
    readonly thumbprint: string | undefined;
  }) => { readonly [claim: string]: unknown };
  readonly signAccess: (claims: object) => string;
  /** Signs a client's id_token, for any grant. */
  readonly idToken: (of: IdTokenOf) => Promise<string>;
};

const MS = 1_000;
export const ID_TOKEN_SECONDS = 3_600;

type Dependencies = {
  readonly settings: Pick<Settings, 'ISSUER'>;
  readonly ids: Ids;
  readonly sign: SignToken;
  readonly signForClient: SignForClient;
  readonly userDirectory: Pick<UserDirectory, 'emailOf' | 'open'>;
  readonly applicationClaims: ApplicationClaims;
};

export function oauthTokens({
  settings,
  ids,
  sign,
  signForClient,
  userDirectory,
  applicationClaims,
}: Dependencies): OAuthTokens {
  const common = (tenantId: string, issuedAt: number, ttlSeconds: number) => ({
    iss: settings.ISSUER,
    iat: issuedAt,
    exp: issuedAt + ttlSeconds,
    jti: ids.next(),
    tid: tenantId,
    tenant_id: tenantId,
  });
  // `iat` is before the user was read, but not before the moment that revoked older tokens.
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
      const { client, consent } = of;
      const all = [...scopes, ...of.openid.split(' ')];
      // A token for Cardea's own API has only claims that the API reads.
      const isOwn = of.resource === `${settings.ISSUER}/api`;
      const further = { use: 'access_token', user, client, consent, scopes: all } as const;
      return {
        ...(isOwn ? {} : await applicationClaims(further)),
        ...common(of.tenantId, issuedAt(of), of.ttlSeconds),
        sub: user.id,
        aud: of.resource,
        client_id,
        scope,
        sid,
        auth_time,
        amr,
        ...boundTo(of.thumbprint),
        ...(email === null ? {} : { email }),
        ...(scopes.includes('roles') ? { roles: user.roles } : {}),
      };
    },
    clientClaims: ({ tenantId, clientId: client_id, resource: aud, scope, roles, ...of }) => ({
      ...common(
        tenantId,
        Math.max(Math.floor(of.readAt.getTime() / MS), of.notBefore),
        of.ttlSeconds,
      ),
      sub: client_id,
      aud,
      client_id,
      scope,
      roles,
      ...boundTo(of.thumbprint),
    }),
    signAccess: (claims) => sign(TOKEN_CLASSES.access.typ, claims),
    idToken: async (of) => {
      const { user, clientId: aud, authTime: auth_time, amr, nonce, sid } = of;
      const opened = await userDirectory.open(user);
      const scopes = of.scope.split(' ');
      const { client, consent } = of;
      return signForClient(of.alg, 'JWT', {
        ...(await applicationClaims({ use: 'id_token', user, client, consent, scopes })),
        ...common(of.tenantId, issuedAt(of), ID_TOKEN_SECONDS),
        sub: user.id,
        aud,
        auth_time,
        amr,
        sid,
        ...(nonce === undefined ? {} : { nonce }),
        at_hash: leftHalfOfHash(of.alg, of.accessToken),
        ...userClaims(user, opened, scopes),
      });
    },
  };
}

/** RFC 9449, 6.1: `cnf.jkt` names the key of the token. */
const boundTo = (jkt: string | undefined) => (jkt === undefined ? {} : { cnf: { jkt } });

/** Issues the access tokens of Cardea's own pages at a sign-in, and renews them until that sign-in ends. */
import { importPublicJwk, verifyToken } from '@cardea/auth';
import type { Peers, ServiceDependencies } from '@cardea/service';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import type { PageSignIn } from '../../adapters/authorization-server.ts';
import { ROLES } from '../../ranks/ranks.ts';
import type { SigningKeys } from '../../signing-keys/signing-keys.module.ts';
import { builtInResource } from '../resource-servers/known-resources.ts';
import type { ApplicationSessions } from '../server/application-sessions.ts';
import type { OAuthTokens } from '../server/oauth-tokens.ts';
import {
  PAGE_SCOPES,
  PAGE_TOKEN_SECONDS_MAX,
  pagesClient,
  pagesClientId,
  pagesConsent,
} from './pages-client.ts';

const BUILT_IN: readonly string[] = ROLES;
/**
 * The longest token that fits. Browsers drop cookies of more than 4,096 characters, and encryption adds about a third.
 */
const TOKEN_CHARACTERS_MAX = 2_700;

type Dependencies = Pick<ServiceDependencies, 'clock' | 'settings'> & {
  readonly applicationSessions: Pick<ApplicationSessions, 'isBrowserAlive'>;
  readonly jwks: SigningKeys['jwks'];
  readonly oauthTokens: Pick<OAuthTokens, 'signAccess' | 'userClaims'>;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export type PageTokens = {
  /** Returns undefined if the account or its sign-in has ended. */
  readonly issue: (of: PageSignIn & { readonly tenantId: string }) => Promise<string | undefined>;
  readonly renew: Peers['identity']['pageToken'];
  /** Returns undefined for any other token, and after the sign-in has ended. */
  readonly aliveSignIn: (
    token: string,
  ) => Promise<(PageSignIn & { readonly tenantId: string }) | undefined>;
};

export function pageTokens(needs: Dependencies): PageTokens {
  const { settings, clock, userDirectory, oauthTokens } = needs;
  const resource = builtInResource(settings);
  const ttlSeconds = Math.min(settings.JWT_EXPIRY, PAGE_TOKEN_SECONDS_MAX);
  const issue: PageTokens['issue'] = async ({ tenantId, userId, browserSid: sid, ...of }) => {
    const readAt = clock.now();
    const [user, isAlive] = await Promise.all([
      userDirectory.byId(tenantId, userId),
      needs.applicationSessions.isBrowserAlive(tenantId, userId, sid),
    ]);
    if (!exists(user) || user.status !== 'active' || !isAlive) return undefined;
    const claims = await oauthTokens.userClaims({
      user,
      tenantId,
      sid,
      readAt,
      ttlSeconds,
      ...of,
      client: { tenantId, application: pagesClient(tenantId, settings.PUBLIC_URL) },
      clientId: pagesClientId(tenantId),
      consent: pagesConsent({ tenantId, userId }, resource),
      resource,
      scope: PAGE_SCOPES.join(' '),
      openid: PAGE_SCOPES.join(' '),
      notBefore: 0,
      thumbprint: undefined,
    });
    const token = oauthTokens.signAccess(claims);
    if (token.length <= TOKEN_CHARACTERS_MAX) return token;
    // No endpoint of the pages requires a role that the tenant defined.
    const roles = user.roles.filter((role) => BUILT_IN.includes(role));
    return oauthTokens.signAccess({ ...claims, roles });
  };
  return {
    issue,
    renew: async ({ token }) => {
      const signIn = signInOf(needs, token);
      return { token: (signIn && (await issue(signIn))) ?? null };
    },
    aliveSignIn: async (token) => {
      const signIn = signInOf(needs, token);
      if (signIn === undefined) return undefined;
      const { tenantId, userId, browserSid } = signIn;
      const { isBrowserAlive } = needs.applicationSessions;
      return (await isBrowserAlive(tenantId, userId, browserSid)) ? signIn : undefined;
    },
  };
}

/** The sign-in of one of our page tokens, even an expired one. Returns undefined for any other token. */
function signInOf(
  { clock, jwks, settings }: Dependencies,
  token: string,
): (PageSignIn & { readonly tenantId: string }) | undefined {
  const read = verifyToken(token, {
    tokenClass: 'access',
    issuer: settings.ISSUER,
    keyOf: (kid) => {
      const jwk = jwks().keys.find((key) => key.kid === kid);
      return jwk && importPublicJwk(jwk)?.publicKey;
    },
    nowSeconds: clock.now().getTime() / 1_000,
  });
  const claims = 'ok' in read ? read.ok : read.bad === 'expired' ? read.claims : undefined;
  if (claims === undefined) return undefined;
  const { tid: tenantId, sub: userId, sid, auth_time: authTime, amr, client_id: client } = claims;
  if (client !== pagesClientId(tenantId) || typeof sid !== 'string') return undefined;
  if (typeof authTime !== 'number') return undefined;
  return { tenantId, userId, browserSid: sid, authTime, amr: Array.isArray(amr) ? amr : [] };
}

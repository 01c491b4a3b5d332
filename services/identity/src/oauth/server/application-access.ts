/** The scopes and resource that an application already has for its user, for a token with a newer `auth_time`. */
import type { ApplicationAccess } from '../../authentication/authentication.module.ts';
import type { KnownResources } from '../resource-servers/known-resources.ts';
import type { OAuthClients } from './clients.ts';
import { currentScopes } from './current-scopes.ts';
import type { OAuthTokens } from './oauth-tokens.ts';
import { tokensFrom, type UserConsents } from './user-consents.ts';

export const applicationAccess = (needs: {
  readonly userConsents: Pick<UserConsents, 'active'>;
  readonly findClient: OAuthClients['find'];
  readonly oauthTokens: Pick<OAuthTokens, 'userClaims' | 'signAccess'>;
  readonly resources: Pick<KnownResources, 'builtIn' | 'find'>;
}): ApplicationAccess => ({
  consentEpoch: async (of) => (await needs.userConsents.active(of))?.epoch,
  issue: async ({ scopes, boundKey: thumbprint, ...of }) => {
    const { builtIn: resource } = needs.resources;
    const [consent, known, client] = await Promise.all([
      needs.userConsents.active(of),
      needs.resources.find(of.tenantId, resource),
      needs.findClient(of.clientId),
    ]);
    if (consent === undefined || known === undefined || client === undefined) return undefined;
    const { tokenTtlSeconds: ttlSeconds } = known;
    const scope = currentScopes(scopes, { client, consent, resource }).join(' ');
    const notBefore = tokensFrom(consent);
    const claims = await needs.oauthTokens.userClaims({
      ...of,
      scope,
      openid: '',
      client,
      consent,
      resource,
      ttlSeconds,
      notBefore,
      thumbprint,
    });
    return { token: needs.oauthTokens.signAccess(claims), expiresIn: ttlSeconds };
  },
});

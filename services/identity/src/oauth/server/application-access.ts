/** What an application holds of its user, for a token with a newer time of sign-in. */
import type { ApplicationAccess } from '../../authentication/authentication.module.ts';
import type { KnownResources } from '../resource-servers/known-resources.ts';
import type { OAuthTokens } from './oauth-tokens.ts';
import { tokensFrom, type UserConsents } from './user-consents.ts';

export const applicationAccess = (needs: {
  readonly userConsents: Pick<UserConsents, 'active'>;
  readonly oauthTokens: Pick<OAuthTokens, 'userClaims' | 'signAccess'>;
  readonly resources: Pick<KnownResources, 'builtIn' | 'find'>;
}): ApplicationAccess => ({
  consentEpoch: async (of) => (await needs.userConsents.active(of))?.epoch,
  issue: async ({ scopes, ...of }) => {
    const { builtIn: resource } = needs.resources;
    const [consent, known] = await Promise.all([
      needs.userConsents.active(of),
      needs.resources.find(of.tenantId, resource),
    ]);
    if (consent === undefined || known === undefined) return undefined;
    const { tokenTtlSeconds: ttlSeconds } = known;
    const scope = scopes.join(' ');
    const notBefore = tokensFrom(consent);
    const claims = await needs.oauthTokens.userClaims({
      ...{ ...of, scope, resource, ttlSeconds, notBefore },
    });
    return { token: needs.oauthTokens.signAccess(claims), expiresIn: ttlSeconds };
  },
});

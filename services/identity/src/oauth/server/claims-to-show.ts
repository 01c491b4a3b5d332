/** The claims that a request would release to an application and that the person has not consented to yet. */
import type { ClaimsRequest, ShownClaim } from '../../adapters/authorization-ports.ts';
import { coversClaim } from '../../consents/consents.module.ts';
import type { OAuthClients } from './clients.ts';
import type { UserConsents } from './user-consents.ts';

type Dependencies = {
  readonly clients: Pick<OAuthClients, 'find'>;
  readonly userConsents: Pick<UserConsents, 'active'>;
};

export async function claimsToShow(
  { clients, userConsents }: Dependencies,
  { scopes, showsAll, ...of }: ClaimsRequest,
): Promise<readonly ShownClaim[]> {
  const client = await clients.find(of.clientId);
  const claims = (client?.application.claims ?? []).filter(({ scope }) => scopes.includes(scope));
  if (claims.length === 0) return [];
  const consent = showsAll ? undefined : await userConsents.active(of);
  return claims
    .filter((claim) => !coversClaim(consent?.claims ?? [], claim))
    .map(({ name, from, scope }) => ({ name, from, scope }));
}

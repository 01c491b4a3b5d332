/** The claims of an application that a person has not let it have yet, of those that a request would give it. */
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

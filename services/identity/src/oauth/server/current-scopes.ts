/** The scopes that were granted once, as far as the application may have them and its user consents to them now. */
import type { GivenConsent } from '../../consents/consents.module.ts';
import type { OAuthClient } from './clients.ts';

export function currentScopes(
  granted: readonly string[],
  now: {
    readonly client: OAuthClient;
    readonly consent: GivenConsent;
    /** The resource of the consent that the scopes belong to. */
    readonly resource: string;
  },
): readonly string[] {
  const { scopes: allowed } = now.client.application;
  const consented = now.consent.granted[now.resource] ?? [];
  return granted.filter(
    (scope) => consented.includes(scope) && (allowed === undefined || allowed.includes(scope)),
  );
}

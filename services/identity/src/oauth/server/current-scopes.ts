/** Reduces granted scopes to those that the application may still have and its user still consents to. */
import type { GivenConsent } from '../../consents/consents.module.ts';
import type { OAuthClient } from './clients.ts';

export function currentScopes(
  granted: readonly string[],
  now: {
    readonly client: OAuthClient;
    readonly consent: GivenConsent;
    /** The resource of the consent to which the scopes belong. */
    readonly resource: string;
  },
): readonly string[] {
  const { scopes: allowed } = now.client.application;
  const consented = now.consent.granted[now.resource] ?? [];
  return granted.filter(
    (scope) => consented.includes(scope) && (allowed === undefined || allowed.includes(scope)),
  );
}

/**
 * The scopes and claims that a user grants to an application, out of those it asks for. `openid` cannot be left out.
 */
import type { ShownClaim } from '../../adapters/authorization-ports.ts';
import type { Granted } from '../../consents/consents.module.ts';

const FIELD = 'scope:';

export function chosenScopes(
  missing: Granted,
  body: { readonly scopes?: readonly string[]; readonly [field: string]: unknown },
  isForm: boolean,
): Granted {
  const chosen = isForm
    ? Object.keys(body)
        .filter((field) => field.startsWith(FIELD))
        .map((field) => field.slice(FIELD.length))
    : body.scopes;
  const isChosen = (scope: string) =>
    chosen === undefined || scope === 'openid' || chosen.includes(scope);
  return Object.fromEntries(
    Object.entries(missing).map(([resource, scopes]) => [resource, scopes.filter(isChosen)]),
  );
}

/** A claim needs its scope: without the scope, the application does not get the claim. */
export function chosenClaims(
  claims: readonly ShownClaim[],
  { missing, granted }: { readonly missing: Granted; readonly granted: Granted },
): readonly ShownClaim[] {
  const names = (of: Granted) => new Set(Object.values(of).flat());
  const [asked, given] = [names(missing), names(granted)];
  return claims.filter(({ scope }) => given.has(scope) || !asked.has(scope));
}

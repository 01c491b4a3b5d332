/** What a user lets an application have of what it asks for; `openid` cannot be left out. */
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

/**
 * The library drops `offline_access` from a request without `prompt=consent`. Cardea honours it in every request
 * (`docs/design/oauth.md`, From a code to tokens), so it is restored after the library has removed it.
 */
import type { Ctx } from './authorization-ports.ts';

const OFFLINE_ACCESS = 'offline_access';
/** A parameter that is stored with a pushed request. The library stores only the reduced scope. */
const KEPT = 'keeps_offline_access';

/** The library calls this function for each request, whether or not the parameter is present. */
export const offlineAccessParameter = { [KEPT]: async (ctx: unknown) => putBack(ctx as Ctx) };

function putBack({ oidc, query }: Ctx): void {
  const { client, params, body, entities } = oidc;
  if (params === undefined) return;
  const wasPushed = entities.PushedAuthorizationRequest !== undefined;
  const sent = String(body?.['scope'] ?? query['scope'] ?? '').split(' ');
  const isAsked = wasPushed ? params[KEPT] === 'true' : sent.includes(OFFLINE_ACCESS);
  params[KEPT] = isAsked ? 'true' : undefined;
  const scopes = String(params['scope'] ?? '')
    .split(' ')
    .filter(Boolean);
  const isAllowed =
    client?.grantTypeAllowed('refresh_token') === true &&
    (client.scope === undefined || client.scope.split(' ').includes(OFFLINE_ACCESS));
  if (!isAsked || !isAllowed || scopes.includes(OFFLINE_ACCESS)) return;
  params['scope'] = [...scopes, OFFLINE_ACCESS].join(' ');
}

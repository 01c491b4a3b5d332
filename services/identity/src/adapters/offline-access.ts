/**
 * The library drops `offline_access` from a request without `prompt=consent`. Here it is asked for wherever a request
 * names it (`docs/design/oauth.md`, From a code to tokens), so it is put back once the library has looked.
 */
import type { Ctx } from './authorization-ports.ts';

const OFFLINE_ACCESS = 'offline_access';
/** Beside the parameters of a pushed request, where the library keeps no more than it has left of the scope. */
const KEPT = 'keeps_offline_access';

/** The library calls it for each request, whether or not that has the parameter. */
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

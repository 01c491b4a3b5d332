/** Answers a refresh request of an application. */
import type { Message, RefreshFault, RefreshRequest } from '../../adapters/authorization-ports.ts';
import { OPENID } from '../../consents/consents.module.ts';
import type { KnownResources } from '../resource-servers/known-resources.ts';
import type { ApplicationSessions } from './application-sessions.ts';
import { boundKey, type OAuthClients } from './clients.ts';
import { currentScopes } from './current-scopes.ts';
import type { OAuthTokens } from './oauth-tokens.ts';
import { OFFLINE_ACCESS, withScope } from './offline-access.ts';
import { requestOf } from './requests.ts';
import { tokensFrom, type UserConsents } from './user-consents.ts';

type RefreshedDependencies = {
  readonly applicationSessions: Pick<ApplicationSessions, 'ofToken' | 'refresh' | 'refreshTokenOf'>;
  readonly clients: Pick<OAuthClients, 'findFor'>;
  readonly userConsents: Pick<UserConsents, 'active'>;
  readonly resources: Pick<KnownResources, 'builtIn' | 'find'>;
  readonly oauthTokens: OAuthTokens;
};

export async function refreshed(
  needs: RefreshedDependencies,
  message: Message,
  { tenantId, clientId, token: text, scope, resource, thumbprint, useProof }: RefreshRequest,
): Promise<object | RefreshFault> {
  const found = await needs.applicationSessions.ofToken(text, { tenantId, clientId });
  if (found === undefined) return { fault: 'invalid_grant' };
  // The requested scope is checked before the refresh token is used. A client that asks for too much keeps its token.
  const { session: before } = found;
  const had = (before.scope ?? '').split(' ');
  const asked = scope === undefined ? had : scope.split(' ');
  if (!asked.every((each) => had.includes(each))) return { fault: 'invalid_scope' };
  if (resource !== undefined && resource !== before.resource) return { fault: 'invalid_target' };
  const audience = before.resource ?? needs.resources.builtIn;
  const [client, consent] = await Promise.all([
    needs.clients.findFor({ clientId, resource: audience }),
    needs.userConsents.active({ tenantId, userId: before.user_id, clientId }),
  ]);
  if (client === undefined || consent === undefined) return { fault: 'invalid_grant' };
  const isUnproven = client.application.dpop_bound_access_tokens && thumbprint === undefined;
  if (isUnproven) return { fault: 'invalid_grant' };
  const now = { client, consent };
  const wanted = currentScopes(asked, { ...now, resource: audience });
  if (wanted.length === 0 && before.scope !== '') return { fault: 'invalid_scope' };
  const jkt = boundKey(client, thumbprint);
  const by = { kind: 'oauth', clientId, thumbprint, binds: jkt !== undefined } as const;
  await useProof();
  const done = await needs.applicationSessions.refresh(requestOf(message), found.token, by);
  if ('refused' in done) return { fault: 'invalid_grant' };
  const { session, user, readAt } = done;
  const known = await needs.resources.find(tenantId, audience);
  if (known === undefined) return { fault: 'invalid_grant' };
  const of = {
    user,
    client,
    consent,
    tenantId,
    clientId,
    scope: wanted.join(' '),
    sid: session.id,
    readAt,
    authTime: session.auth_time,
    amr: session.amr,
    notBefore: tokensFrom(consent),
  };
  const ttlSeconds = known.tokenTtlSeconds;
  const consented = consent.granted[OPENID] ?? [];
  const openid = currentScopes(consented, { ...now, resource: OPENID }).filter(
    (each) => wanted.includes(each) || audience !== needs.resources.builtIn,
  );
  const access = {
    ...of,
    openid: openid.join(' '),
    resource: audience,
    ttlSeconds,
    thumbprint,
  };
  const claims = await needs.oauthTokens.userClaims(access);
  const accessToken = needs.oauthTokens.signAccess(claims);
  const alg = client.application.id_token_signed_response_alg;
  const idToken = { ...of, alg, accessToken, scope: openid.join(' ') };
  // If the request named a narrower scope, the response repeats that scope unchanged.
  const isOffline = scope === undefined && session.browser_sid === null;
  return {
    access_token: accessToken,
    token_type: thumbprint === undefined ? 'Bearer' : 'DPoP',
    expires_in: ttlSeconds,
    refresh_token: needs.applicationSessions.refreshTokenOf(session),
    scope: isOffline ? withScope(of.scope, OFFLINE_ACCESS) : of.scope,
    ...(openid.includes('openid') ? { id_token: await needs.oauthTokens.idToken(idToken) } : {}),
  };
}

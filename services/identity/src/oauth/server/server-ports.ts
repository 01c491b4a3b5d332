/** What the authorization server asks of Cardea: clients, consents, accounts and sessions, out of their streams. */
import type { Command } from '@cardea/event-store';
import type { ServiceDependencies } from '@cardea/service';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import type { ArtifactCache } from '../../adapters/artifact-cache.ts';
import type {
  Account,
  ClientFailure,
  GrantFor,
  IssuedFor,
  Message,
  Ports,
  RefreshFault,
  RefreshRequest,
} from '../../adapters/authorization-ports.ts';
import { OPENID } from '../../consents/consents.module.ts';
import { LIMITS } from '../../http/limits.ts';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import type { RecordClientFailure } from '../client-failures/record-client-failure.ts';
import { BUILT_IN_SCOPES, type KnownResources } from '../resource-servers/known-resources.ts';
import { userClaims } from '../userinfo/user-claims.ts';
import type { ApplicationSessions, StartApplicationSession } from './application-sessions.ts';
import { clientMetadata, type OAuthClients } from './clients.ts';
import type { OAuthTokens } from './oauth-tokens.ts';
import { answered, requestOf } from './requests.ts';
import { grantIdOf, tokensFrom, type UserConsents } from './user-consents.ts';

export type PortsDependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'ids' | 'limits' | 'log' | 'settings'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'open'>;
  readonly clients: OAuthClients;
  readonly clientDocuments: ClientDocuments;
  readonly userConsents: UserConsents;
  readonly resources: KnownResources;
  readonly applicationSessions: ApplicationSessions;
  readonly oauthTokens: OAuthTokens;
  readonly artifacts: ArtifactCache;
  readonly recordClientFailure: RecordClientFailure;
  readonly errorPage: Ports['errorPage'];
};

type OwnPorts = Omit<Ports, 'cookieKeys' | 'jwks'>;

const USED_CODE_SECONDS = 3_600;
const CODE_SESSION = 'CodeSession';

export function serverPorts(needs: PortsDependencies): OwnPorts {
  const { settings, artifacts, clients, userConsents, resources } = needs;
  const started = new WeakMap<Message, StartApplicationSession>();
  return {
    issuer: settings.ISSUER,
    builtIn: resources.builtIn,
    scopes: Object.keys(BUILT_IN_SCOPES),
    accessSeconds: settings.JWT_EXPIRY,
    artifacts,
    errorPage: needs.errorPage,
    client: async (id) => {
      const found = await clients.find(id);
      return found === undefined ? undefined : clientMetadata(found);
    },
    hasSecret: clients.hasSecret,
    resource: async ({ tenantId, scopes }, identifier) => {
      const found = await resources.find(tenantId, identifier);
      if (found === undefined) return undefined;
      // A client that nobody has registered gets nothing of Cardea's own API.
      if (scopes === undefined && identifier === resources.builtIn) return undefined;
      const names = found.scopes.map(({ name }) => name);
      const allowed = names.filter((name) => scopes === undefined || scopes.includes(name));
      return { scopes: allowed, ttlSeconds: found.tokenTtlSeconds };
    },
    grantById: async (id) => {
      const consent = await userConsents.byGrantId(id);
      if (consent === undefined) return undefined;
      const { userId: accountId, clientId, granted } = consent;
      return { accountId, clientId, granted };
    },
    grantFor: (message, of) => grantFor(needs, message, of),
    account: (tenantId, id) => accountOf(needs, tenantId, id),
    isSignedIn: (tenantId, userId, sid) =>
      needs.applicationSessions.isBrowserAlive(tenantId, userId, sid),
    accessClaims: async (message, of) => {
      const issued = await issue(needs, of);
      if (issued.start !== undefined) started.set(message, issued.start);
      return issued.claims;
    },
    afterCode: async (message, answer, code) => {
      const start = started.get(message);
      if (start === undefined) return answer;
      const request = requestOf(message);
      const refresh_token = await needs.applicationSessions.start(request, start);
      if (refresh_token === undefined) throw new Error('the user was erased meanwhile');
      const { sid, tenantId, userId } = start;
      await artifacts.put(CODE_SESSION, code, { sid, tenantId, userId }, USED_CODE_SECONDS);
      return { ...answer, refresh_token };
    },
    refresh: (message, of) => refreshed(needs, message, of),
    refreshToken: async (text) => {
      const session = await needs.applicationSessions.genuine(text);
      if (session === undefined) return undefined;
      const { id: sid, client_id, user_id: userId, resource } = session;
      return { sid, clientId: client_id ?? '', userId, resource: resource ?? undefined };
    },
    endSession: async (message, text) => {
      await needs.applicationSessions.endByToken(requestOf(message), text);
    },
    codeReplayed: async (message, code) => {
      const found = await artifacts.find(CODE_SESSION, code);
      if (found === undefined) return;
      const { sid, tenantId, userId } = found.value as Record<
        'sid' | 'tenantId' | 'userId',
        string
      >;
      const of = { sid, tenantId, userId };
      await needs.applicationSessions.end(requestOf(message), of, 'reuse');
    },
    answered,
    ...strangerPorts(needs),
    failed: (error) => {
      needs.log.error({ err: error }, 'the authorization server failed');
    },
  };
}

/** What is asked of clients before they are believed. */
function strangerPorts(needs: PortsDependencies) {
  // The library looks for a client again where it was refused one.
  const tried = new WeakSet<Message>();
  return {
    fetchDocument: needs.clientDocuments.fetch,
    admitsDocument: async (message: Message) => {
      if (tried.has(message)) return false;
      tried.add(message);
      const { ip } = requestOf(message);
      return (await needs.limits.take(LIMITS.clientDocumentsByIp, ip)).allowed;
    },
    documentTenant: async (resource: string) =>
      (await needs.clientDocuments.tenantOf(resource))?.id,
    admits: async (clientId: string, to: 'token' | 'par') => {
      const limit = to === 'token' ? LIMITS.tokensByClient : LIMITS.parByClient;
      return (await needs.limits.take(limit, clientId)).allowed;
    },
    clientFailed: (message: Message, failure: ClientFailure) =>
      needs.recordClientFailure(requestOf(message), failure),
  } satisfies Partial<OwnPorts>;
}

async function accountOf(
  { userDirectory }: PortsDependencies,
  tenantId: string,
  id: string,
): Promise<Account | undefined> {
  const user = await userDirectory.byId(tenantId, id);
  if (!exists(user) || user.status !== 'active') return undefined;
  return {
    id,
    claims: async (scopes) => userClaims(user, await userDirectory.open(user), scopes),
  };
}

/** A first-party application gets what it asks for; nobody is asked. */
async function grantFor(
  { userConsents, command: commandOf }: PortsDependencies,
  message: Message,
  { tenantId, userId, clientId, firstParty, asked }: GrantFor,
): Promise<string | undefined> {
  const of = { tenantId, userId, clientId };
  if (firstParty) {
    const actor = { type: 'user', id: userId } as const;
    const command: Command = await commandOf(requestOf(message), { tenantId, actor });
    await userConsents.grant({ ...of, granted: asked, by: 'policy' }, command);
  }
  const consent = await userConsents.active(of);
  return consent === undefined ? undefined : grantIdOf(consent);
}

async function issue(
  needs: PortsDependencies,
  of: IssuedFor,
): Promise<{ readonly claims: object; readonly start?: StartApplicationSession }> {
  const { tenantId, clientId, resource, scope, ttlSeconds, userId } = of;
  const client = await needs.clients.findFor({ clientId, resource });
  if (client?.tenantId !== tenantId) throw new Error('a token for a client that has gone');
  if (userId === undefined) {
    const common = { tenantId, clientId, resource, scope, ttlSeconds };
    return { claims: needs.oauthTokens.clientClaims(common) };
  }
  const readAt = needs.clock.now();
  const [user, consent] = await Promise.all([
    needs.userDirectory.byId(tenantId, userId),
    needs.userConsents.active({ tenantId, userId, clientId }),
  ]);
  if (!exists(user) || consent === undefined)
    throw new Error('a token without a user or a consent');
  const refreshes = client.application.grant_types.includes('refresh_token');
  const sid = refreshes ? needs.ids.next() : of.browserSid;
  const { authTime, amr } = of;
  const claims = await needs.oauthTokens.userClaims({
    ...{ user, tenantId, clientId, resource, scope, sid, authTime, amr, ttlSeconds, readAt },
    notBefore: tokensFrom(consent),
  });
  if (!refreshes) return { claims };
  const { id: consentId, epoch: consentEpoch } = consent;
  const start = { sid, tenantId, userId, clientId, consentId, consentEpoch, scope, resource };
  return { claims, start: { ...start, authTime, amr } };
}

async function refreshed(
  needs: PortsDependencies,
  message: Message,
  { tenantId, clientId, token: text, scope, resource }: RefreshRequest,
): Promise<object | RefreshFault> {
  const found = await needs.applicationSessions.ofToken(text, { tenantId, clientId });
  if (found === undefined) return { fault: 'invalid_grant' };
  // Looked at before the token is used up: whoever asks for too much keeps it.
  const had = (found.session.scope ?? '').split(' ');
  const wanted = scope === undefined ? had : scope.split(' ');
  if (!wanted.every((each) => had.includes(each))) return { fault: 'invalid_scope' };
  if (resource !== undefined && resource !== found.session.resource) {
    return { fault: 'invalid_target' };
  }
  const by = { kind: 'oauth', clientId } as const;
  const done = await needs.applicationSessions.refresh(requestOf(message), found.token, by);
  if ('refused' in done) return { fault: 'invalid_grant' };
  const { session, user, readAt } = done;
  const consent = await needs.userConsents.active({ tenantId, userId: user.id, clientId });
  const audience = session.resource ?? needs.resources.builtIn;
  const known = await needs.resources.find(tenantId, audience);
  if (consent === undefined || known === undefined) return { fault: 'invalid_grant' };
  const of = {
    ...{ user, tenantId, clientId, scope: wanted.join(' '), sid: session.id, readAt },
    ...{ authTime: session.auth_time, amr: session.amr, notBefore: tokensFrom(consent) },
  };
  const ttlSeconds = known.tokenTtlSeconds;
  const claims = await needs.oauthTokens.userClaims({ ...of, resource: audience, ttlSeconds });
  const openid = (consent.granted[OPENID] ?? []).filter(
    (each) => wanted.includes(each) || audience !== needs.resources.builtIn,
  );
  return {
    access_token: needs.oauthTokens.signAccess(claims),
    token_type: 'Bearer',
    expires_in: ttlSeconds,
    refresh_token: needs.applicationSessions.refreshTokenOf(session),
    scope: of.scope,
    ...(openid.includes('openid')
      ? { id_token: await needs.oauthTokens.idToken({ ...of, scope: openid.join(' ') }) }
      : {}),
  };
}

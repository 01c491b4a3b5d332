/** Implements the authorization server's ports: clients, consents, accounts and sessions, read from their streams. */
import type { DpopProofs } from '@cardea/auth';
import type { Command } from '@cardea/event-store';
import type { ServiceDependencies } from '@cardea/service';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import type { ArtifactCache } from '../../adapters/artifact-cache.ts';
import type {
  AccessClaims,
  Account,
  ArtifactBasis,
  ExchangedCode,
  GrantFor,
  IssuedFor,
  Message,
  Ports,
  RestingArtifact,
  TokenAnswer,
} from '../../adapters/authorization-ports.ts';
import type { ConsentEpoch } from '../../sessions/sessions.module.ts';
import {
  isMachineScopeIn,
  isOwnerUnknown,
  type Workspaces,
} from '../../workspaces/workspaces.module.ts';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import type { RecordClientFailure } from '../client-failures/record-client-failure.ts';
import { pagesCallback } from '../page-sign-in/pages-client.ts';
import { BUILT_IN_SCOPES, type KnownResources } from '../resource-servers/known-resources.ts';
import { userClaims } from '../userinfo/user-claims.ts';
import type { ApplicationSessions, StartApplicationSession } from './application-sessions.ts';
import { artifactStatus, basisOf } from './artifact-basis.ts';
import { claimsToShow } from './claims-to-show.ts';
import { boundKey, clientMetadata, type OAuthClient, type OAuthClients } from './clients.ts';
import { devicePages } from './device-pages.ts';
import type { IdTokenOf, OAuthTokens } from './oauth-tokens.ts';
import { OFFLINE_ACCESS, withScope } from './offline-access.ts';
import { refreshed } from './refreshed.ts';
import { answered, receivedAt, rememberPending, requestOf } from './requests.ts';
import { serveByBrowser } from './served-by-browser.ts';
import { strangerPorts } from './stranger-ports.ts';
import { grantIdOf, tokensFrom, type UserConsents } from './user-consents.ts';

export type PortsDependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'ids' | 'limits' | 'log' | 'settings' | 'streams'
> & {
  readonly consentEpoch: ConsentEpoch;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'open'>;
  readonly clients: OAuthClients;
  readonly clientDocuments: ClientDocuments;
  readonly userConsents: UserConsents;
  readonly resources: KnownResources;
  readonly applicationSessions: ApplicationSessions;
  readonly oauthTokens: OAuthTokens;
  readonly artifacts: ArtifactCache;
  readonly recordClientFailure: RecordClientFailure;
  readonly dpop: Pick<DpopProofs, 'read'>;
  readonly tokenExchange: Pick<Ports, 'agentClient' | 'exchange' | 'provesAgent'>;
  readonly errorPage: Ports['errorPage'];
};

type OwnPorts = Omit<Ports, 'cookieKeys' | 'jwks'>;

const REFUSED = 'an OAuth request was refused';
const REASON_MAX_CHARS = 200;
const USED_CODE_SECONDS = 3_600;
const MACHINE_TOKEN_SECONDS_MAX = 900;
const CODE_SESSION = 'CodeSession';

export function serverPorts(needs: PortsDependencies): OwnPorts {
  const { settings, artifacts, clients, userConsents, resources } = needs;
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
    ...needs.tokenExchange,
    resource: async ({ tenantId, scopes, machineScopes }, identifier) => {
      const found = await resources.find(tenantId, identifier);
      if (found === undefined) return undefined;
      // A self-described client gets no scope of Cardea's own API.
      if (scopes === undefined && identifier === resources.builtIn) return undefined;
      if (machineScopes !== undefined && identifier === resources.builtIn) {
        const ttlSeconds = Math.min(found.tokenTtlSeconds, MACHINE_TOKEN_SECONDS_MAX);
        return { scopes: machineScopes, ttlSeconds };
      }
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
    claimsToShow: (of) => claimsToShow(needs, of),
    // Cardea itself owns the callback address of its pages, even on a loopback host.
    isOwnerUnknown: (redirectUri) =>
      redirectUri !== pagesCallback(settings.PUBLIC_URL) && isOwnerUnknown(redirectUri),
    account: (tenantId, id) => accountOf(needs, tenantId, id),
    isSignedIn: (tenantId, userId, sid) =>
      needs.applicationSessions.isBrowserAlive(tenantId, userId, sid),
    browserReplaced: (message, sid) =>
      needs.applicationSessions.endBrowser(requestOf(message), sid, 'replaced'),
    browserContinued: (message, { sid, earlier }) =>
      needs.applicationSessions.continueBrowser(requestOf(message), sid, earlier),
    readProof: needs.dpop.read,
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
    devicePages: devicePages(needs),
    refused: (message, { error, error_description, error_detail }) => {
      if (error === 'authorization_pending') return rememberPending(message);
      const reason = error_detail ?? error_description ?? '';
      const fields = { code: error, reason: reason.slice(0, REASON_MAX_CHARS) };
      needs.log.info({ request_id: requestOf(message).requestId, ...fields }, REFUSED);
    },
    ...codePorts(needs),
    ...strangerPorts(needs),
    failed: (error) => {
      needs.log.error({ err: error }, 'the authorization server failed');
    },
  };
}

/** The ports that turn a code into tokens. The session starts in the user epoch in which the code was accepted. */
function codePorts(needs: PortsDependencies) {
  const { artifacts } = needs;
  const epochs = new WeakMap<Message, number>();
  const started = new WeakMap<Message, StartApplicationSession>();
  const issuedTo = new WeakMap<Message, Issued['idToken']>();
  return {
    basisOf: (artifact: RestingArtifact) => basisOf(needs, artifact),
    stillStands: async (message: Message | undefined, basis: ArtifactBasis) => {
      const found = await artifactStatus(needs, basis);
      const userEpoch = found?.userEpoch ?? null;
      if (message !== undefined && userEpoch !== null) epochs.set(message, userEpoch);
      return found !== undefined;
    },
    accessClaims: async (message: Message, of: IssuedFor) => {
      const issued = await issue(needs, of, receivedAt(message));
      const userEpoch = epochs.get(message);
      issuedTo.set(message, issued.idToken);
      if (issued.start !== undefined && userEpoch !== undefined) {
        started.set(message, { ...issued.start, userEpoch });
      }
      return issued.claims;
    },
    afterCode: async (message: Message, answer: TokenAnswer, { code, ...of }: ExchangedCode) => {
      const tokens = {
        ...answer,
        ...(await idTokenOf(needs, issuedTo.get(message), { answer, ...of })),
      };
      const found = started.get(message);
      if (found === undefined) {
        await serveByBrowser(needs, message, issuedTo.get(message));
        return tokens;
      }
      const staysSignedIn = of.openid.split(' ').includes(OFFLINE_ACCESS);
      const start = staysSignedIn ? { ...found, browserSid: null } : found;
      const request = requestOf(message);
      const refresh_token = await needs.applicationSessions.start(request, start);
      if (refresh_token === undefined) throw new Error('the user or the sign-in is gone since');
      const { sid, tenantId, userId } = start;
      await artifacts.put(CODE_SESSION, code, { sid, tenantId, userId }, USED_CODE_SECONDS);
      const scope = staysSignedIn ? withScope(answer.scope, OFFLINE_ACCESS) : answer.scope;
      return { ...tokens, refresh_token, ...(scope === undefined ? {} : { scope }) };
    },
  } satisfies Partial<OwnPorts>;
}

/** Replaces the library's id_token by ours, so that every id_token has the same claims. */
async function idTokenOf(
  { oauthTokens }: PortsDependencies,
  issued: Issued['idToken'],
  { answer, nonce, openid }: Omit<ExchangedCode, 'code'> & { readonly answer: TokenAnswer },
): Promise<{ readonly id_token?: string }> {
  if (answer.id_token === undefined || issued === undefined) return {};
  const of = { ...issued, scope: openid, nonce, accessToken: answer.access_token };
  return { id_token: await oauthTokens.idToken(of) };
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

/** A first-party application is granted what it requests, without a consent page. */
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

type Issued = {
  readonly claims: AccessClaims;
  readonly start?: Omit<StartApplicationSession, 'userEpoch'>;
  /** Undefined for a token without a user. */
  readonly idToken?: Omit<IdTokenOf, 'accessToken' | 'nonce' | 'scope'> | undefined;
};

async function issue(needs: PortsDependencies, of: IssuedFor, receivedAt: Date): Promise<Issued> {
  const { tenantId, clientId, resource, scope, ttlSeconds, userId, thumbprint } = of;
  const client = await needs.clients.findFor({ clientId, resource });
  if (client?.tenantId !== tenantId) throw new Error('a token for a client that has gone');
  if (userId === undefined) {
    const common = { tenantId, clientId, resource, ttlSeconds, thumbprint };
    const power = powerOf(needs, client, of);
    // The client may have changed after it authenticated. A token issued then is dated before the change, so it is
    // already revoked.
    const dated = { readAt: receivedAt, notBefore: of.clientNotBefore };
    return { claims: needs.oauthTokens.clientClaims({ ...common, ...power, ...dated }) };
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
  const { authTime, amr, browserSid } = of;
  const notBefore = tokensFrom(consent);
  const granted = { user, client, consent, tenantId, clientId };
  const common = { ...granted, sid, authTime, amr, readAt, notBefore };
  const { openid } = of;
  const access = { ...common, resource, scope, openid, ttlSeconds, thumbprint };
  const claims = await needs.oauthTokens.userClaims(access);
  const idToken = { ...common, alg: client.application.id_token_signed_response_alg };
  if (!refreshes) return { claims, idToken };
  const { id: consentId, epoch: consentEpoch } = consent;
  const start = { sid, tenantId, userId, clientId, consentId, consentEpoch, scope, resource };
  const jkt = boundKey(client, thumbprint);
  return { claims, idToken, start: { ...start, authTime, amr, browserSid, jkt } };
}

/**
 * The scopes of a client that acts for itself. At Cardea's own API it acts as a machine; elsewhere it has the scopes
 * that it was given.
 */
function powerOf(
  { resources }: Pick<PortsDependencies, 'resources'>,
  { tenantId, application }: OAuthClient,
  { resource, scope, namesScope }: IssuedFor,
): { readonly scope: string; readonly roles: readonly string[] } {
  if (resource !== resources.builtIn) return { scope, roles: [] };
  const { roles, machine_scopes } = application;
  const asked = scope.split(' ');
  const scopes = machine_scopes
    .filter((each) => !namesScope || asked.includes(each))
    .filter((each) => isMachineScopeIn(tenantId, each));
  return { scope: scopes.join(' '), roles };
}

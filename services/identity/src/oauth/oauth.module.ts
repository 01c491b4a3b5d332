/** The authorization server: its pages and endpoints, resource servers, introspection, userinfo. */
import { dpopProofs } from '@cardea/auth';
import type { DerivedKeys } from '@cardea/crypto';
import { type Endpoint, type OutboundDependencies, outbound } from '@cardea/http';
import {
  internalBearers,
  type Module,
  type Peers,
  type ServiceDependencies,
} from '@cardea/service';
import type { ToAscii, UserDirectory } from '../accounts/accounts.module.ts';
import { artifactCache } from '../adapters/artifact-cache.ts';
import type { AgentSessionStart } from '../agents/agents.module.ts';
import type {
  ApplicationAccess,
  ConfirmSignIn,
  HostedSignIn,
} from '../authentication/authentication.module.ts';
import type { FindLiveKey } from '../credentials/credentials.module.ts';
import type { Passkeys } from '../factors/factors.module.ts';
import type { FindOnward } from '../pages/onward.ts';
import type { ConsentEpoch, LoginSessions, RefreshSession } from '../sessions/sessions.module.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.module.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import {
  clientDocuments,
  DOCUMENT_BYTES_MAX,
  DOCUMENT_WAIT_MS,
} from './client-documents/client-documents.ts';
import type { IsKnownClient } from './client-documents/known-clients.ts';
import { clientFailures } from './client-failures/client-failure.ts';
import { recordClientFailure } from './client-failures/record-client-failure.ts';
import {
  interactionAbortRoute,
  interactionAccountRoute,
  interactionConsentRoute,
  interactionLinkRoute,
  interactionRestartRoute,
  interactionRoute,
  interactionSocialRoute,
} from './interactions/interaction.route.ts';
import {
  interactionRegisterRoute,
  interactionVerifyEmailPageRoute,
  interactionVerifyEmailRoute,
} from './interactions/registration.route.ts';
import {
  interactionChallengeRoute,
  interactionForgotPasswordRoute,
  interactionLoginRoute,
  interactionMfaRoute,
} from './interactions/sign-in.route.ts';
import { introspectRoute } from './introspection/introspect.route.ts';
import { introspect } from './introspection/introspect.ts';
import { liveTokens } from './introspection/live-tokens.ts';
import { ownTokens } from './introspection/own-tokens.ts';
import { confirmLogoutRoute, logoutRoute, postLogoutRoute } from './logout/logout.route.ts';
import { logoutNotices } from './logout-notices/logout-notice.ts';
import { logoutNoticesModule } from './logout-notices/logout-notices.ts';
import { oauthRelay } from './oauth-relay.ts';
import { pageSignInModule } from './page-sign-in/page-sign-in.ts';
import {
  createResourceServerRoute,
  deleteResourceServerRoute,
  listResourceServersRoute,
} from './resource-servers/administer/administer.route.ts';
import { knownResources } from './resource-servers/known-resources.ts';
import { resourceServers } from './resource-servers/resource-server.ts';
import { resourceServersProjection } from './resource-servers/resource-servers.projection.ts';
import { applicationAccess } from './server/application-access.ts';
import { applicationSessions } from './server/application-sessions.ts';
import { oauthClients, registeredClient } from './server/clients.ts';
import { showError } from './server/errors.ts';
import { oauthTokens } from './server/oauth-tokens.ts';
import { runningServer } from './server/running-server.ts';
import { serverRoutes } from './server/server.route.ts';
import { serverPorts } from './server/server-ports.ts';
import { userConsents } from './server/user-consents.ts';
import { tokenExchange } from './token-exchange/token-exchange.ts';
import { applicationClaims } from './userinfo/application-claims.ts';
import { postUserinfoRoute, userinfoRoute } from './userinfo/userinfo.route.ts';

type Dependencies = Pick<
  ServiceDependencies,
  | 'authenticator'
  | 'cache'
  | 'clock'
  | 'command'
  | 'database'
  | 'derive'
  | 'ids'
  | 'limits'
  | 'log'
  | 'pageKeys'
  | 'positions'
  | 'revocations'
  | 'sealer'
  | 'settings'
  | 'store'
  | 'streams'
  | 'systemCommand'
> & {
  readonly snapshots: SnapshotCache;
  readonly userDirectory: UserDirectory;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly consentEpoch: ConsentEpoch;
  readonly findLiveKey: FindLiveKey;
  readonly ended: Peers['identity']['ended'];
  readonly loginSessions: LoginSessions;
  readonly refreshSession: RefreshSession;
  readonly hostedSignIn: HostedSignIn;
  readonly confirmSignIn: ConfirmSignIn;
  readonly passkeys: Pick<Passkeys, 'request'>;
  readonly isKnownClient: IsKnownClient;
  readonly toAscii: ToAscii;
  readonly onward: FindOnward;
  readonly startAgentSession: AgentSessionStart;
  /** Replaces the network when client documents are fetched. Tests count its calls. */
  readonly documentNetwork?: Pick<OutboundDependencies, 'dialer' | 'resolver'>;
  /** Replaces the network when logout notices are sent. */
  readonly noticeNetwork?: Pick<OutboundDependencies, 'dialer' | 'resolver'>;
} & Pick<SigningKeys, 'jwks' | 'keys' | 'latestJwks' | 'sign' | 'signForClient'>;

export function oauthModule(given: Dependencies): Module {
  const verifyOwn = ownTokens(given);
  const refreshKeys: DerivedKeys = given.derive('JWT_SECRET', 'refresh/v1');
  const artifacts = artifactCache(given.cache, given.derive('JWT_SECRET', 'artifact/v1'));
  const resources = knownResources(given);
  const documents = outbound({
    // Client documents are never fetched from private addresses, not even in development.
    env: 'production',
    allowedCidrs: [],
    wholeWaitMs: DOCUMENT_WAIT_MS,
    // One extra byte shows that the document is too long.
    bodyMaxBytes: DOCUMENT_BYTES_MAX + 1,
    ...given.documentNetwork,
  });
  const dpop = dpopProofs({ ...given, issuer: given.settings.ISSUER });
  const own = { ...given, artifacts, resources, outbound: documents };
  const documented = { ...given, clientDocuments: clientDocuments(own) };
  const liveToken = liveTokens({ ...given, verifyOwn });
  const server = {
    ...documented,
    tokenExchange: tokenExchange({ ...given, resources }),
    clients: oauthClients(documented),
    userConsents: userConsents(given),
    resources,
    ...tokensOf(given),
    applicationSessions: applicationSessions({ ...given, refreshKeys }),
    artifacts,
    dpop,
    errorPage: showError,
    recordClientFailure: recordClientFailure(given),
  };
  const cookieKeys = given.derive('JWT_SECRET', 'cookie/v1');
  const needs = {
    ...server,
    server: runningServer(serverPorts(server), { keys: given.keys, cookieKeys }),
    liveToken,
    introspect: introspect({ ...given, liveToken, refreshKeys }),
    isService: internalBearers(given, ['identity']).accepts,
  };
  const pageSignIn = pageSignInModule(needs);
  const notices = logoutNoticesModule(needs);
  return {
    ...notices,
    endpoints: [
      ...serverRoutes(needs),
      ...interactionRoutes(needs),
      logoutRoute(needs),
      postLogoutRoute(needs),
      confirmLogoutRoute(needs),
      ...pageSignIn.endpoints,
      introspectRoute(needs),
      userinfoRoute(needs),
      postUserinfoRoute(needs),
      createResourceServerRoute(needs),
      listResourceServersRoute(needs),
      deleteResourceServerRoute(needs),
    ],
    projections: [resourceServersProjection, ...notices.projections],
    relay: oauthRelay,
    offers: pageSignIn.offers,
    stop: async () => {
      await notices.stop();
      await documents.close();
    },
  };
}

type InteractionNeeds = Parameters<typeof interactionRoute>[0] &
  Parameters<typeof interactionLoginRoute>[0] &
  Parameters<typeof interactionRegisterRoute>[0];

const interactionRoutes = (needs: InteractionNeeds): readonly Endpoint[] => [
  interactionRoute(needs),
  interactionLoginRoute(needs),
  interactionForgotPasswordRoute(needs),
  interactionRegisterRoute(needs),
  interactionVerifyEmailRoute(needs),
  interactionVerifyEmailPageRoute(needs),
  interactionMfaRoute(needs),
  interactionConsentRoute(needs),
  interactionAbortRoute(needs),
  interactionAccountRoute(needs),
  interactionRestartRoute(needs),
  interactionChallengeRoute(needs),
  interactionSocialRoute(needs),
  interactionLinkRoute(needs),
];

export { knownClients } from './client-documents/known-clients.ts';

function tokensOf(
  given: Pick<
    Dependencies,
    'ids' | 'settings' | 'sign' | 'signForClient' | 'userDirectory' | 'workspaces'
  >,
) {
  const claims = applicationClaims(given);
  return {
    applicationClaims: claims,
    oauthTokens: oauthTokens({ ...given, applicationClaims: claims }),
  };
}

/** Finds an application's access for a step-up, which runs outside of the authorization server. */
export const accessOfApplications = (
  given: Pick<
    Dependencies,
    | 'clock'
    | 'ids'
    | 'sealer'
    | 'settings'
    | 'sign'
    | 'signForClient'
    | 'snapshots'
    | 'streams'
    | 'userDirectory'
    | 'workspaces'
  >,
): ApplicationAccess =>
  applicationAccess({
    userConsents: userConsents(given),
    ...tokensOf(given),
    resources: knownResources(given),
    findClient: registeredClient(given),
  });

export const oauthStreams = [resourceServers, clientFailures, logoutNotices];

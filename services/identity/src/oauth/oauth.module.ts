/** The authorization server: its pages and endpoints, resource servers, introspection, userinfo. */
import type { DerivedKeys } from '@cardea/crypto';
import {
  internalBearers,
  type Module,
  type Peers,
  type ServiceDependencies,
} from '@cardea/service';
import type { UserDirectory } from '../accounts/accounts.module.ts';
import { artifactCache } from '../adapters/artifact-cache.ts';
import type { HostedSignIn } from '../authentication/authentication.module.ts';
import type { FindLiveKey } from '../credentials/credentials.module.ts';
import type { ConsentEpoch, LoginSessions, RefreshSession } from '../sessions/sessions.module.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.module.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import {
  interactionAbortRoute,
  interactionConsentRoute,
  interactionLoginRoute,
  interactionMfaRoute,
  interactionRoute,
} from './interactions/interaction.route.ts';
import { introspectRoute } from './introspection/introspect.route.ts';
import { introspect } from './introspection/introspect.ts';
import { liveTokens } from './introspection/live-tokens.ts';
import { ownTokens } from './introspection/own-tokens.ts';
import { oauthRelay } from './oauth-relay.ts';
import {
  createResourceServerRoute,
  deleteResourceServerRoute,
  listResourceServersRoute,
} from './resource-servers/administer/administer.route.ts';
import { knownResources } from './resource-servers/known-resources.ts';
import { resourceServers } from './resource-servers/resource-server.ts';
import { resourceServersProjection } from './resource-servers/resource-servers.projection.ts';
import { applicationSessions } from './server/application-sessions.ts';
import { oauthClients } from './server/clients.ts';
import { showError } from './server/errors.ts';
import { oauthTokens } from './server/oauth-tokens.ts';
import { runningServer } from './server/running-server.ts';
import { serverRoutes } from './server/server.route.ts';
import { serverPorts } from './server/server-ports.ts';
import { userConsents } from './server/user-consents.ts';
import { postUserinfoRoute, userinfoRoute } from './userinfo/userinfo.route.ts';

type Dependencies = Pick<
  ServiceDependencies,
  | 'cache'
  | 'clock'
  | 'command'
  | 'database'
  | 'derive'
  | 'ids'
  | 'limits'
  | 'log'
  | 'revocations'
  | 'sealer'
  | 'settings'
  | 'store'
  | 'streams'
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
} & Pick<SigningKeys, 'active' | 'jwks' | 'latestJwks' | 'sign'>;

export function oauthModule(given: Dependencies): Module {
  const verifyOwn = ownTokens(given);
  const liveToken = liveTokens({ ...given, verifyOwn });
  const refreshKeys: DerivedKeys = given.derive('JWT_SECRET', 'refresh/v1');
  const server = {
    ...given,
    clients: oauthClients(given),
    userConsents: userConsents(given),
    resources: knownResources(given),
    oauthTokens: oauthTokens(given),
    applicationSessions: applicationSessions({ ...given, refreshKeys }),
    artifacts: artifactCache(given.cache, given.derive('JWT_SECRET', 'artifact/v1')),
    errorPage: showError,
  };
  const cookieKeys = given.derive('JWT_SECRET', 'cookie/v1');
  const needs = {
    ...server,
    server: runningServer(serverPorts(server), { active: given.active, cookieKeys }),
    liveToken,
    introspect: introspect({ ...given, liveToken, refreshKeys }),
    isService: internalBearers(given, ['identity']).accepts,
  };
  return {
    endpoints: [
      ...serverRoutes(needs),
      interactionRoute(needs),
      interactionLoginRoute(needs),
      interactionMfaRoute(needs),
      interactionConsentRoute(needs),
      interactionAbortRoute(needs),
      introspectRoute(needs),
      userinfoRoute(needs),
      postUserinfoRoute(needs),
      createResourceServerRoute(needs),
      listResourceServersRoute(needs),
      deleteResourceServerRoute(needs),
    ],
    projections: [resourceServersProjection],
    relay: oauthRelay,
  };
}

export const oauthStreams = [resourceServers];

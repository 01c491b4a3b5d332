/** Everything in identity that is not about people: API keys, agents, their keys and sessions, delegations. */
import type { Endpoint } from '@cardea/http';
import type { Projection } from '@cardea/read-models';
import type { Loop, Peers, Policy } from '@cardea/service';
import QuickLRU from 'quick-lru';
import {
  createApiKeyRoute,
  listApiKeysRoute,
  listScopesRoute,
  revokeApiKeyRoute,
  rotateApiKeyRoute,
} from '../credentials/api-keys/administer/administer.route.ts';
import { apiKeysProjection } from '../credentials/api-keys/api-keys.projection.ts';
import { introspector } from '../credentials/introspection.ts';
import { keyUses, noteUse, USE_TOLD_EVERY_MS } from '../credentials/key-uses/key-use.ts';
import type { Identity } from '../identity.ts';
import {
  createAgentKeyRoute,
  listAgentKeysRoute,
  revokeAgentKeyRoute,
  rotateAgentKeyRoute,
} from './agent-keys/administer/administer.route.ts';
import { agentKeysProjection } from './agent-keys/agent-keys.projection.ts';
import { type AgentNames, agentNames } from './agent-names.ts';
import { agentSessionsProjection } from './agent-sessions/agent-sessions.projection.ts';
import { endAgentSessionRoute } from './agent-sessions/end/end.route.ts';
import { endExpiredSessions } from './agent-sessions/end-expired-sessions.ts';
import { openSessions } from './agent-sessions/end-many.ts';
import { endOrphanedSessions } from './agent-sessions/end-orphaned-sessions.policy.ts';
import { issueTokensRoute } from './agent-sessions/issue-tokens/issue-tokens.route.ts';
import { getAgentSessionRoute, listAgentSessionsRoute } from './agent-sessions/list/list.route.ts';
import { startAgentSessionRoute } from './agent-sessions/start/start.route.ts';
import { type AgentTokens, agentTokens } from './agent-tokens.ts';
import {
  changeAgentRoute,
  createAgentRoute,
  deleteAgentRoute,
  getAgentRoute,
  listAgentsRoute,
  myAgentsRoute,
} from './agents/administer/administer.route.ts';
import { agentsProjection } from './agents/agents.projection.ts';
import { currentFacts } from './current-facts.ts';
import {
  grantDelegationRoute,
  listDelegationsRoute,
  withdrawDelegationRoute,
} from './delegations/delegate/delegate.route.ts';
import { delegationsProjection } from './delegations/delegations.projection.ts';
import { endings } from './endings.ts';

export type Machines = Identity & {
  readonly agentNames: AgentNames;
  readonly agentTokens: AgentTokens;
  /** Open sessions of an agent on behalf of a user, as the table knows them. */
  readonly liveAgentSessions: (of: {
    readonly tenantId: string;
    readonly userId: string;
    readonly agentId: string;
  }) => Promise<readonly string[]>;
};

export type MachineParts = {
  readonly endpoints: readonly Endpoint[];
  readonly projections: readonly Projection[];
  readonly policies: readonly Policy[];
  readonly loops: readonly Loop[];
  readonly introspect: Peers['introspect'];
  readonly ended: Peers['ended'];
  readonly facts: Peers['facts'];
};

export function machineParts(identity: Identity): MachineParts {
  const machines: Machines = {
    ...identity,
    agentNames: agentNames(identity),
    agentTokens: agentTokens({ ...identity, sign: identity.signingKeys.sign }),
    liveAgentSessions: (of) => openSessions(identity.database, of),
  };
  return {
    endpoints: machineRoutes(machines),
    projections: [
      apiKeysProjection,
      agentsProjection,
      agentKeysProjection,
      delegationsProjection,
      agentSessionsProjection,
    ],
    policies: [endOrphanedSessions(machines)],
    loops: [endExpiredSessions(machines)],
    introspect: introspector({ ...identity, noteUse: useNotes(identity) }),
    ended: endings(identity),
    facts: currentFacts(identity),
  };
}

const machineRoutes = (machines: Machines): readonly Endpoint[] => [
  createApiKeyRoute(machines),
  listApiKeysRoute(machines),
  listScopesRoute(),
  rotateApiKeyRoute(machines),
  revokeApiKeyRoute(machines),
  createAgentRoute(machines),
  listAgentsRoute(machines),
  getAgentRoute(machines),
  changeAgentRoute(machines),
  deleteAgentRoute(machines),
  createAgentKeyRoute(machines),
  listAgentKeysRoute(machines),
  rotateAgentKeyRoute(machines),
  revokeAgentKeyRoute(machines),
  myAgentsRoute(machines),
  grantDelegationRoute(machines),
  listDelegationsRoute(machines),
  withdrawDelegationRoute(machines),
  startAgentSessionRoute(machines),
  issueTokensRoute(machines),
  listAgentSessionsRoute(machines),
  getAgentSessionRoute(machines),
  endAgentSessionRoute(machines),
];

const NOTED_KEYS_MAX = 10_000;

/** This process asks the stream at most as often as a use is told. */
function useNotes({ streams, clock, systemCommand, ids }: Identity) {
  const noted = new QuickLRU<string, number>({ maxSize: NOTED_KEYS_MAX });
  return async (of: {
    readonly id: string;
    readonly kind: 'svc' | 'agk';
    readonly tenantId: string;
  }): Promise<void> => {
    const { id, kind, tenantId } = of;
    const before = noted.get(id);
    if (before !== undefined && clock.monotonicMs() - before < USE_TOLD_EVERY_MS) return;
    noted.set(id, clock.monotonicMs());
    const command = systemCommand(tenantId, 'key used', id, ids.next());
    const use = { id, kind, now: command.now };
    await streams.decideOn(keyUses, id, command, (state) => noteUse(use, state));
  };
}

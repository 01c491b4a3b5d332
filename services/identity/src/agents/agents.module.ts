/** Agents: their keys, the delegations that users give them, and their sessions. */

import type { SignToken } from '@cardea/auth';
import type { Module, ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../accounts/accounts.module.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import {
  createAgentKeyRoute,
  listAgentKeysRoute,
  revokeAgentKeyRoute,
  rotateAgentKeyRoute,
} from './agent-keys/administer/administer.route.ts';
import { agentKeys } from './agent-keys/agent-key.ts';
import { agentKeysProjection } from './agent-keys/agent-keys.projection.ts';
import { agentNames } from './agent-names.ts';
import { agentSessions } from './agent-sessions/agent-session.ts';
import { agentSessionsProjection } from './agent-sessions/agent-sessions.projection.ts';
import { endAgentSessionRoute } from './agent-sessions/end/end.route.ts';
import { endExpiredSessions } from './agent-sessions/end-expired-sessions.ts';
import { endOrphanedSessions } from './agent-sessions/end-orphaned-sessions.policy.ts';
import { issueTokensRoute } from './agent-sessions/issue-tokens/issue-tokens.route.ts';
import { getAgentSessionRoute, listAgentSessionsRoute } from './agent-sessions/list/list.route.ts';
import { startAgentSessionRoute } from './agent-sessions/start/start.route.ts';
import { type AgentSessionStart, agentSessionStart } from './agent-sessions/start/start-session.ts';
import { agentTokens } from './agent-tokens.ts';
import {
  changeAgentRoute,
  createAgentRoute,
  deleteAgentRoute,
} from './agents/administer/administer.route.ts';
import {
  getAgentRoute,
  listAgentsRoute,
  myAgentsRoute,
} from './agents/administer/list-agents.route.ts';
import { agents } from './agents/agent.ts';
import { agentsProjection } from './agents/agents.projection.ts';
import { widenOnApproval } from './agents/widen/widen-on-approval.consumer.ts';
import { agentsRelay } from './agents-relay.ts';
import { currentFacts } from './current-facts.ts';
import { currentUsers } from './current-users.ts';
import {
  grantDelegationRoute,
  listDelegationsRoute,
  withdrawDelegationRoute,
} from './delegations/delegate/delegate.route.ts';
import { withdrawAllDelegationsRoute } from './delegations/delegate/withdraw-all.route.ts';
import { delegations } from './delegations/delegation.ts';
import { delegationsProjection } from './delegations/delegations.projection.ts';
import { takeBackReclaimedAgents } from './take-back-reclaimed.policy.ts';

export { type AgentKeyEvent, agentKeys } from './agent-keys/agent-key.ts';
export { agentOfKey } from './agent-keys/agent-of-key.ts';
export { type AgentSessionEvent, agentSessions } from './agent-sessions/agent-session.ts';
export { whyEnded } from './agent-sessions/basis.ts';
export { openSessions } from './agent-sessions/end-many.ts';
export {
  agentSessionsEndedByUser,
  agentSessionsOfLogin,
} from './agent-sessions/ended-with-user.ts';
export { START_CONTRACT, SUBJECT_TOKEN_MAX } from './agent-sessions/start/start.route.ts';
export type { AgentSessionStart } from './agent-sessions/start/start-session.ts';
export { type AgentEvent, agents } from './agents/agent.ts';
export { AgentShape } from './agents/agent-shape.ts';
export { listAgents } from './agents/list-agents.ts';
export { isServiceName, SERVICES_MAX } from './agents/service-grant.ts';
export { DelegationShape, listDelegations } from './delegations/delegate/delegate.route.ts';
export type { DelegationEvent } from './delegations/delegation.ts';

type Dependencies = Pick<
  ServiceDependencies,
  | 'authenticator'
  | 'clock'
  | 'command'
  | 'database'
  | 'ids'
  | 'limits'
  | 'log'
  | 'positions'
  | 'random'
  | 'sealer'
  | 'settings'
  | 'streams'
  | 'systemCommand'
> & {
  readonly sign: SignToken;
  readonly snapshots: SnapshotCache;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export const startsAgentSessions = (given: Dependencies): AgentSessionStart =>
  agentSessionStart({ ...given, agentTokens: agentTokens(given) });

export function agentsModule(
  given: Dependencies & { readonly startAgentSession: AgentSessionStart },
) {
  const needs = {
    ...given,
    agentNames: agentNames(given),
    agentTokens: agentTokens(given),
  };
  /** Operations for the pages of a person's own account. */
  const selfService = {
    myAgents: myAgentsRoute(needs),
    listDelegations: listDelegationsRoute(needs),
    withdrawDelegation: withdrawDelegationRoute(needs),
    withdrawAllDelegations: withdrawAllDelegationsRoute(needs),
    listAgentSessions: listAgentSessionsRoute(needs),
    endAgentSession: endAgentSessionRoute(needs),
  };
  const module: Module = {
    endpoints: [
      ...Object.values(selfService),
      createAgentRoute(needs),
      listAgentsRoute(needs),
      getAgentRoute(needs),
      changeAgentRoute(needs),
      deleteAgentRoute(needs),
      createAgentKeyRoute(needs),
      listAgentKeysRoute(needs),
      rotateAgentKeyRoute(needs),
      revokeAgentKeyRoute(needs),
      grantDelegationRoute(needs),
      startAgentSessionRoute(needs),
      issueTokensRoute(needs),
      getAgentSessionRoute(needs),
    ],
    projections: [
      agentsProjection,
      agentKeysProjection,
      delegationsProjection,
      agentSessionsProjection,
    ],
    policies: [endOrphanedSessions(needs), takeBackReclaimedAgents(needs)],
    consumers: [widenOnApproval(needs)],
    loops: [endExpiredSessions(needs)],
    relay: agentsRelay,
    offers: { identity: { facts: currentFacts(needs), people: currentUsers(needs) } },
  };
  return { module, selfService };
}

export const agentsStreams = [agents, agentKeys, agentSessions, delegations];

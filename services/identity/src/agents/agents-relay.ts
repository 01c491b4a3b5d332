/** What other services hear of agents, their keys, delegations and sessions. */
import {
  integrationEvent,
  type RelayTools,
  relayOf,
  stateAt,
} from '../streams/integration-events.ts';
import { type AgentKeyEvent, agentKeys } from './agent-keys/agent-key.ts';
import type { AgentSessionEvent, AgentSessionFacts } from './agent-sessions/agent-session.ts';
import { type AgentEvent, agents, isThere } from './agents/agent.ts';
import { copied } from './agents/service-grant.ts';
import type { DelegationEvent } from './delegations/delegation.ts';

export const agentsRelay = relayOf<
  AgentEvent | AgentKeyEvent | DelegationEvent | AgentSessionEvent
>({
  AgentCreated: async (_event, tools) => integrationEvent('agent.created', await agentOf(tools)),
  AgentChanged: async ({ data }, tools) => {
    const { id: _id, at: _at, name_hash: _name, ...changed } = data;
    return integrationEvent('agent.updated', {
      ...(await agentOf(tools)),
      changed: Object.keys(changed),
    });
  },
  AgentSuspended: async (_event, tools) =>
    integrationEvent('agent.suspended', await agentOf(tools)),
  AgentResumed: async (_event, tools) => integrationEvent('agent.resumed', await agentOf(tools)),
  AgentDeleted: ({ data }) =>
    integrationEvent('agent.deleted', { id: data.id, deleted_at: data.deleted_at }),

  AgentKeyIssued: async (_event, tools) =>
    integrationEvent('agent_key.created', (await agentKeyOf(tools)).key),
  AgentKeyRotated: async (_event, tools) => {
    const { key, previousUntil } = await agentKeyOf(tools);
    return integrationEvent('agent_key.rotated', { ...key, previous_until: previousUntil });
  },
  AgentKeyRevoked: ({ data }) =>
    integrationEvent('agent_key.revoked', {
      id: data.id,
      agent_id: data.agent_id,
      revoked_at: data.revoked_at,
    }),

  DelegationGranted: ({ data }) => {
    const { id, user_id, agent_id, services, expires_at } = data;
    return integrationEvent('delegation.granted', {
      id,
      user_id,
      agent_id,
      services: copied(services),
      expires_at,
    });
  },
  DelegationWithdrawn: ({ data }) => {
    const { id, user_id, agent_id, services } = data;
    return integrationEvent('delegation.withdrawn', {
      id,
      user_id,
      agent_id,
      services: copied(services),
    });
  },

  AgentSessionStarted: ({ data }) =>
    integrationEvent('agent_session.started', {
      ...sessionOf(data),
      purpose: data.purpose,
      started_at: data.created_at,
    }),
  AgentSessionRenewed: ({ data }) => integrationEvent('agent_session.renewed', sessionOf(data)),
  AgentSessionEnded: ({ data }) =>
    integrationEvent('agent_session.ended', {
      ...sessionOf(data),
      reason: data.reason ?? 'ended',
      ended_at: data.ended_at ?? data.expires_at,
    }),
});

async function agentKeyOf(tools: RelayTools) {
  const state = await stateAt(agentKeys, tools);
  if (state.status === 'none') throw new Error('an event of an agent key without the key');
  const { id, agent_id, name, created_at, expires_at } = state.key;
  const key = { id, agent_id, name, created_at, expires_at };
  return { key, previousUntil: state.secret.previousUntil };
}

async function agentOf(tools: RelayTools) {
  const state = await stateAt(agents, tools);
  if (!isThere(state)) throw new Error('an agent event without an agent');
  const { agent, status } = state;
  const { id, name, description, owner_user_id, app_id, services, created_at } = agent;
  return {
    id,
    name,
    description,
    status,
    owner_user_id,
    app_id,
    services: copied(services),
    created_at,
  };
}

const sessionOf = ({ id, agent_id, user_id, services, epoch, expires_at }: AgentSessionFacts) => ({
  id,
  agent_id,
  user_id,
  services: copied(services),
  epoch,
  expires_at,
});

/** Publishes the facts about agents, their keys, delegations and sessions that other services receive. */
import type { identityEvents } from '@cardea/contracts';
import { type RelayTools, relay } from '@cardea/event-bus';
import { type AgentKeyEvent, agentKeys } from './agent-keys/agent-key.ts';
import type { AgentSessionEvent, AgentSessionFacts } from './agent-sessions/agent-session.ts';
import { type AgentEvent, agents, isThere } from './agents/agent.ts';
import { copied, copiedOfAgent } from './agents/service-grant.ts';
import type { DelegationEvent } from './delegations/delegation.ts';

export const agentsRelay = relay<
  AgentEvent | AgentKeyEvent | DelegationEvent | AgentSessionEvent,
  typeof identityEvents
>({
  AgentCreated: async (_event, tools) => ({ type: 'agent.created', data: await agentOf(tools) }),
  AgentChanged: async ({ data }, tools) => {
    const { id: _id, at: _at, name_hash: _name, ...changed } = data;
    return {
      type: 'agent.updated',
      data: {
        ...(await agentOf(tools)),
        changed: Object.keys(changed),
      },
    };
  },
  AgentSuspended: async (_event, tools) => ({
    type: 'agent.suspended',
    data: await agentOf(tools),
  }),
  AgentResumed: async (_event, tools) => ({ type: 'agent.resumed', data: await agentOf(tools) }),
  AgentDeleted: ({ data }) => ({
    type: 'agent.deleted',
    data: { id: data.id, deleted_at: data.deleted_at },
  }),

  AgentKeyIssued: async (_event, tools) => ({
    type: 'agent_key.created',
    data: (await agentKeyOf(tools)).key,
  }),
  AgentKeyRotated: async (_event, tools) => {
    const { key, previousUntil } = await agentKeyOf(tools);
    return { type: 'agent_key.rotated', data: { ...key, previous_until: previousUntil } };
  },
  AgentKeyRevoked: ({ data }) => ({
    type: 'agent_key.revoked',
    data: {
      id: data.id,
      agent_id: data.agent_id,
      revoked_at: data.revoked_at,
    },
  }),

  DelegationGranted: ({ data }) => {
    const { id, user_id, agent_id, services, expires_at } = data;
    return {
      type: 'delegation.granted',
      data: {
        id,
        user_id,
        agent_id,
        services: copied(services),
        expires_at,
      },
    };
  },
  DelegationWithdrawn: ({ data }) => {
    const { id, user_id, agent_id, services } = data;
    return {
      type: 'delegation.withdrawn',
      data: {
        id,
        user_id,
        agent_id,
        services: copied(services),
      },
    };
  },

  AgentSessionStarted: ({ data }) => ({
    type: 'agent_session.started',
    data: {
      ...sessionOf(data),
      purpose: data.purpose,
      started_at: data.created_at,
    },
  }),
  AgentSessionRenewed: ({ data }) => ({ type: 'agent_session.renewed', data: sessionOf(data) }),
  AgentSessionEnded: ({ data }) => ({
    type: 'agent_session.ended',
    data: {
      ...sessionOf(data),
      reason: data.reason ?? 'ended',
      ended_at: data.ended_at ?? data.expires_at,
    },
  }),
});

async function agentKeyOf(tools: RelayTools) {
  const state = await tools.stateOf(agentKeys);
  if (state.status === 'none') throw new Error('an event of an agent key without the key');
  const { id, agent_id, name, created_at, expires_at } = state.key;
  const key = { id, agent_id, name, created_at, expires_at };
  return { key, previousUntil: state.secret.previousUntil };
}

async function agentOf(tools: RelayTools) {
  const state = await tools.stateOf(agents);
  if (!isThere(state)) throw new Error('an agent event without an agent');
  const { agent, status } = state;
  const { id, name, description, owner_user_id, app_id, services, created_at } = agent;
  const approvers = [...(agent.approvers ?? [])];
  return {
    id,
    name,
    description,
    status,
    owner_user_id,
    app_id,
    services: copiedOfAgent(services),
    approvers,
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

/** What identity tells the others of keys, agents, delegations and agent sessions. */
import type { IdentityEventData, IdentityEventType } from '@cardea/contracts';
import type { Mapped, RelayMapper } from '@cardea/event-bus';
import type { RecordedEvent } from '@cardea/event-store';
import { type ApiKeyEvent, apiKeys } from '../credentials/api-keys/api-key.ts';
import { type AgentKeyEvent, agentKeys } from './agent-keys/agent-key.ts';
import type { AgentSessionFacts } from './agent-sessions/agent-session.ts';
import { type AgentEvent, agents, isThere } from './agents/agent.ts';
import { copied } from './agents/service-grant.ts';
import type { DelegationEvent } from './delegations/delegation.ts';

type PrivateEvent = ApiKeyEvent | AgentEvent | AgentKeyEvent | DelegationEvent;
type DataOf<T extends PrivateEvent['type']> = Extract<PrivateEvent, { type: T }>['data'];
type Tools = Parameters<RelayMapper>[1];
type Mapper<T extends PrivateEvent['type']> = (
  event: Omit<RecordedEvent, 'data'> & { readonly data: DataOf<T> },
  tools: Tools,
) => Promise<Mapped> | Mapped;

const say = <Of extends IdentityEventType>(type: Of, data: IdentityEventData<Of>): Mapped => ({
  type,
  data,
});

async function apiKeyOf(tools: Tools) {
  const state = (await tools.history()).reduce(
    (before, { type, data }) => apiKeys.evolve(before, { type, data } as unknown as ApiKeyEvent),
    apiKeys.initial,
  );
  if (state.status === 'none') throw new Error('an event of an API key without the key');
  const { key, secret } = state;
  return { key: { ...key, scopes: [...key.scopes] }, previousUntil: secret.previousUntil };
}

async function agentKeyOf(tools: Tools) {
  const state = (await tools.history()).reduce(
    (before, { type, data }) =>
      agentKeys.evolve(before, { type, data } as unknown as AgentKeyEvent),
    agentKeys.initial,
  );
  if (state.status === 'none') throw new Error('an event of an agent key without the key');
  const { id, agent_id, name, created_at, expires_at } = state.key;
  const key = { id, agent_id, name, created_at, expires_at };
  return { key, previousUntil: state.secret.previousUntil };
}

async function agentOf(tools: Tools) {
  const state = (await tools.history()).reduce(
    (before, { type, data }) => agents.evolve(before, { type, data } as unknown as AgentEvent),
    agents.initial,
  );
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

const mappers: { readonly [T in PrivateEvent['type']]?: Mapper<T> } = {
  ApiKeyIssued: async (_event, tools) => say('api_key.created', (await apiKeyOf(tools)).key),
  ApiKeyRotated: async (_event, tools) => {
    const { key, previousUntil } = await apiKeyOf(tools);
    return say('api_key.rotated', { ...key, previous_until: previousUntil });
  },
  ApiKeyRevoked: ({ data }) => say('api_key.revoked', { id: data.id, revoked_at: data.revoked_at }),

  AgentCreated: async (_event, tools) => say('agent.created', await agentOf(tools)),
  AgentChanged: async ({ data }, tools) => {
    const { id: _id, at: _at, name_hash: _name, ...changed } = data;
    return say('agent.updated', { ...(await agentOf(tools)), changed: Object.keys(changed) });
  },
  AgentSuspended: async (_event, tools) => say('agent.suspended', await agentOf(tools)),
  AgentResumed: async (_event, tools) => say('agent.resumed', await agentOf(tools)),
  AgentDeleted: ({ data }) => say('agent.deleted', { id: data.id, deleted_at: data.deleted_at }),

  AgentKeyIssued: async (_event, tools) => say('agent_key.created', (await agentKeyOf(tools)).key),
  AgentKeyRotated: async (_event, tools) => {
    const { key, previousUntil } = await agentKeyOf(tools);
    return say('agent_key.rotated', { ...key, previous_until: previousUntil });
  },
  AgentKeyRevoked: ({ data }) =>
    say('agent_key.revoked', {
      id: data.id,
      agent_id: data.agent_id,
      revoked_at: data.revoked_at,
    }),

  DelegationGranted: ({ data }) => {
    const { id, user_id, agent_id, services, expires_at } = data;
    return say('delegation.granted', {
      id,
      user_id,
      agent_id,
      services: copied(services),
      expires_at,
    });
  },
  DelegationWithdrawn: ({ data }) => {
    const { id, user_id, agent_id, services } = data;
    return say('delegation.withdrawn', { id, user_id, agent_id, services: copied(services) });
  },
};

const sessionMappers: {
  readonly [type: string]: (data: AgentSessionFacts) => Mapped;
} = {
  AgentSessionStarted: (data) =>
    say('agent_session.started', {
      ...sessionOf(data),
      purpose: data.purpose,
      started_at: data.created_at,
    }),
  AgentSessionRenewed: (data) => say('agent_session.renewed', sessionOf(data)),
  AgentSessionEnded: (data) =>
    say('agent_session.ended', {
      ...sessionOf(data),
      reason: data.reason ?? 'ended',
      ended_at: data.ended_at ?? data.expires_at,
    }),
};

const sessionOf = ({ id, agent_id, user_id, services, epoch, expires_at }: AgentSessionFacts) => ({
  id,
  agent_id,
  user_id,
  services: copied(services),
  epoch,
  expires_at,
});

/** By private event type, for {@link relayOf}. */
export const machineMappers: { readonly [eventType: string]: RelayMapper } = {
  ...(mappers as unknown as { readonly [eventType: string]: RelayMapper }),
  ...Object.fromEntries(
    Object.entries(sessionMappers).map(([type, map]): [string, RelayMapper] => [
      type,
      ({ data }) => map(data as unknown as AgentSessionFacts),
    ]),
  ),
};

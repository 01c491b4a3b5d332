/** An agent: a program that acts for itself or on behalf of a user, within the services granted to it. */
import type { Stream } from '@cardea/event-store';
import type { AgentGrant } from './service-grant.ts';

export type AgentData = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly owner_user_id: string | null;
  readonly app_id: string | null;
  readonly services: readonly AgentGrant[];
  /**
   * Users and sets to which the agent may send requests, in addition to its session's user and its owner. Absent in
   * older events.
   */
  readonly approvers?: readonly string[];
  readonly created_at: string;
};

export type AgentFields = Pick<
  AgentData,
  'name' | 'description' | 'owner_user_id' | 'app_id' | 'services' | 'approvers'
>;

export type AgentEvent =
  | {
      readonly type: 'AgentCreated';
      readonly concerns?: 'relay' | 'agents';
      readonly data: AgentData & {
        /** The hash under which the agent's name is reserved. */
        readonly name_hash: string;
        readonly request_hash: string | null;
      };
    }
  | {
      readonly type: 'AgentChanged';
      readonly concerns?: 'relay' | 'agents' | 'revocation_rules';
      readonly data: Partial<AgentFields> & {
        readonly id: string;
        readonly name_hash?: string;
        readonly at: string;
      };
    }
  | {
      readonly type: 'AgentSuspended';
      readonly concerns?:
        | 'relay'
        | 'agents'
        | 'end_orphaned_agent_sessions'
        | 'revocation_rules'
        | 'revocations';
      readonly data: { readonly id: string; readonly at: string };
    }
  | {
      readonly type: 'AgentResumed';
      readonly concerns?: 'relay' | 'agents' | 'revocation_rules' | 'revocations';
      readonly data: { readonly id: string; readonly at: string };
    }
  | {
      readonly type: 'AgentDeleted';
      readonly data: {
        readonly id: string;
        readonly name_hash: string;
        readonly deleted_at: string;
      };
    }
  | {
      readonly type: 'AgentAbandoned';
      readonly concerns?: never;
      readonly data: { readonly id: string };
    };

export type ExistingAgent = {
  readonly status: 'active' | 'suspended';
  readonly agent: AgentData;
  readonly nameHash: string;
  readonly requestHash: string | null;
};
export type Agent =
  | { readonly status: 'none' }
  /** The creation was never completed, and the name was released. */
  | { readonly status: 'abandoned' }
  | ExistingAgent
  | { readonly status: 'deleted'; readonly id: string; readonly nameHash: string };

export const agents: Stream<Agent, AgentEvent> = {
  noun: 'agent',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    if (type === 'AgentAbandoned') return { status: 'abandoned' };
    if (type === 'AgentCreated') {
      const { name_hash: nameHash, request_hash: requestHash, ...agent } = data;
      return { status: 'active', agent, nameHash, requestHash };
    }
    if (!isThere(before)) return before;
    switch (type) {
      case 'AgentChanged': {
        const { id: _id, at: _at, name_hash: nameHash = before.nameHash, ...changed } = data;
        return { ...before, nameHash, agent: { ...before.agent, ...changed } };
      }
      case 'AgentSuspended':
        return { ...before, status: 'suspended' };
      case 'AgentResumed':
        return { ...before, status: 'active' };
      case 'AgentDeleted':
        return { status: 'deleted', id: before.agent.id, nameHash: before.nameHash };
    }
  },
};

export const isThere = (agent: Agent): agent is ExistingAgent =>
  agent.status === 'active' || agent.status === 'suspended';

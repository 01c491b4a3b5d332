/** A delegation: a user lets an agent act on their behalf, within some services and possibly for a limited time. */
import type { Stream } from '@cardea/event-store';
import { uuidV5 } from '@cardea/runtime';
import type { ServiceGrant } from '../agents/service-grant.ts';

export type DelegationData = {
  readonly id: string;
  readonly user_id: string;
  readonly agent_id: string;
  readonly services: readonly ServiceGrant[];
  readonly expires_at: string | null;
  readonly created_at: string;
};

export type DelegationEvent =
  | {
      readonly type: 'DelegationGranted';
      readonly concerns?: 'relay' | 'delegations';
      readonly data: DelegationData & { readonly request_hash: string | null };
    }
  | {
      readonly type: 'DelegationWithdrawn';
      readonly concerns?:
        | 'relay'
        | 'delegations'
        | 'end_orphaned_agent_sessions'
        | 'revocation_rules';
      readonly data: Omit<DelegationData, 'expires_at' | 'created_at'> & {
        readonly withdrawn_at: string;
      };
    };

export type Delegation =
  | { readonly status: 'none' }
  | ({
      readonly status: 'granted';
      readonly requestHash: string | null;
    } & DelegationData)
  | {
      readonly status: 'withdrawn';
      readonly id: string;
      readonly user_id: string;
      readonly withdrawnAt: string;
    };

export const delegations: Stream<Delegation, DelegationEvent> = {
  noun: 'delegation',
  initial: { status: 'none' },
  evolve: (_before, { type, data }) => {
    switch (type) {
      case 'DelegationGranted': {
        const { request_hash: requestHash, ...delegation } = data;
        return { status: 'granted', requestHash, ...delegation };
      }
      case 'DelegationWithdrawn': {
        const { id, user_id, withdrawn_at: withdrawnAt } = data;
        return { status: 'withdrawn', id, user_id, withdrawnAt };
      }
    }
  },
};

/** Each pair of user and agent has one delegation, however often it is granted and withdrawn. */
export const delegationId = (userId: string, agentId: string): string => uuidV5(userId, agentId);

export const isLive = (
  delegation: Delegation,
  now: Date,
): delegation is Extract<Delegation, { status: 'granted' }> =>
  delegation.status === 'granted' &&
  (delegation.expires_at === null || now < new Date(delegation.expires_at));

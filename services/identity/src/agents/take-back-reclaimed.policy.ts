/**
 * After an account was reclaimed: its delegations are withdrawn, agent keys that it created are revoked, and agents
 * that it created are suspended until an administrator resumes them. When a person schedules the deletion of their
 * account, the delegations end.
 */
import { refuse } from '@cardea/event-store';
import { policy } from '@cardea/service';
import {
  type AccountReclaimed,
  endMadeBeforeReclaim,
  type UserEvent,
} from '../accounts/accounts.module.ts';
import { agentKeys, revokeAgentKey } from './agent-keys/agent-key.ts';
import { changeAgent } from './agents/administer/administer.ts';
import { agents } from './agents/agent.ts';
import { withdrawDelegation } from './delegations/delegate/delegate.ts';
import { delegations } from './delegations/delegation.ts';

type Dependencies = Parameters<typeof endMadeBeforeReclaim>[0];
type Ending = Parameters<typeof endMadeBeforeReclaim>[1];
type DeletionScheduled = Extract<UserEvent, { type: 'DeletionScheduled' }>;

const made = { userColumn: 'created_by', timeColumn: 'created_at' } as const;

export const takeBackReclaimedAgents = (needs: Dependencies) =>
  policy<AccountReclaimed | DeletionScheduled>()({
    name: 'take_back_reclaimed_agents',
    on: {
      DeletionScheduled: (event) => withdrawDelegations(needs, event),
      AccountReclaimed: async (event) => {
        await withdrawDelegations(needs, event);
        const keys = { ...made, table: 'agent_keys', open: 'revoked_at IS NULL' } as const;
        await endMadeBeforeReclaim(needs, event, keys, {
          stream: agentKeys,
          decide: (now, key) =>
            key.status === 'none'
              ? refuse('not_found')
              : revokeAgentKey({ agentId: key.key.agent_id, now }, key),
        });
        const active = { ...made, table: 'agents', open: `status = 'active'` } as const;
        await endMadeBeforeReclaim(needs, event, active, {
          stream: agents,
          decide: (now, agent) => changeAgent({ fields: {}, status: 'suspended', now }, agent),
        });
      },
    },
  });

const withdrawDelegations = (needs: Dependencies, event: Ending): Promise<void> =>
  endMadeBeforeReclaim(
    needs,
    event,
    {
      table: 'delegations',
      open: 'withdrawn_at IS NULL',
      userColumn: 'user_id',
      timeColumn: 'created_at',
    },
    {
      stream: delegations,
      decide: (now, delegation) => withdrawDelegation({ userId: event.data.id, now }, delegation),
    },
  );

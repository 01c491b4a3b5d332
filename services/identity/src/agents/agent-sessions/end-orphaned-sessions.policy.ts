/** Ends agent sessions when the agent, key, user, login or delegation that they depend on has ended. */
import type { RecordedEvent } from '@cardea/event-store';
import { policy, type ServiceDependencies } from '@cardea/service';
import type { UserDirectory, UserEvent } from '../../accounts/accounts.module.ts';
import type { SessionEvent } from '../../sessions/sessions.module.ts';
import type { AgentKeyEvent } from '../agent-keys/agent-key.ts';
import type { AgentEvent } from '../agents/agent.ts';
import type { DelegationEvent } from '../delegations/delegation.ts';
import type { EndReason } from './agent-session.ts';
import { endOpenSessions, type OpenOf } from './end-many.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'database' | 'positions' | 'streams' | 'systemCommand'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

type Orphans = Omit<OpenOf, 'tenantId'> & { readonly reason: EndReason | undefined };

export const endOrphanedSessions = (needs: Dependencies) => {
  const end = (
    { id: cause, position, metadata: { tenantId } }: Cause,
    { reason, ...of }: Orphans,
  ) => endOpenSessions(needs, { tenantId, ...of }, { reason, cause, position });
  return policy<UserEvent | SessionEvent | AgentEvent | AgentKeyEvent | DelegationEvent>()({
    name: 'end_orphaned_agent_sessions',
    on: {
      AgentSuspended: (event) => end(event, { agentId: event.data.id, reason: 'agent_suspended' }),
      AgentDeleted: (event) => end(event, { agentId: event.data.id, reason: 'agent_deleted' }),
      AgentKeyRevoked: (event) => end(event, { keyId: event.data.id, reason: 'key_revoked' }),
      UserDisabled: (event) => end(event, { userId: event.data.id, reason: undefined }),
      UserDeleted: (event) => end(event, { userId: event.data.id, reason: undefined }),
      SessionsRevoked: (event) => end(event, { userId: event.data.id, reason: undefined }),
      AccountReclaimed: (event) => end(event, { userId: event.data.id, reason: undefined }),
      EmailChanged: (event) => end(event, { userId: event.data.id, reason: undefined }),
      PasswordSet: async (event) => {
        const { by, id } = event.data;
        if (by !== 'created') await end(event, { userId: id, reason: undefined });
      },
      SessionRevoked: (event) => end(event, { subjectSid: event.data.id, reason: 'login_ended' }),
      DelegationWithdrawn: (event) => {
        const { agent_id: agentId, user_id: userId } = event.data;
        return end(event, { agentId, userId, reason: 'delegation_withdrawn' });
      },
      DeletionScheduled: (event) => end(event, { userId: event.data.id, reason: 'user_inactive' }),
    },
  });
};
type Cause = Pick<RecordedEvent, 'id' | 'position' | 'metadata'>;

/** When an agent, its key, its user, a login or a delegation goes, the sessions that rested on it end. */
import type { RecordedEvent } from '@cardea/event-store';
import type { Policy, ServiceNeeds } from '@cardea/service';
import type { UserDirectory } from '../../accounts/accounts.module.ts';
import type { EndReason } from './agent-session.ts';
import { endOpenSessions, type OpenOf } from './end-many.ts';

type Needs = Pick<
  ServiceNeeds,
  'clock' | 'database' | 'positions' | 'revocations' | 'streams' | 'systemCommand'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

/** Sessions that were opened before the event are in the table by then. */
const CATCH_UP_MS = 10_000;

type Data = {
  readonly id: string;
  readonly agent_id?: string;
  readonly user_id?: string;
  readonly by?: string;
};

export const endOrphanedSessions = (needs: Needs): Policy => ({
  name: 'end_orphaned_agent_sessions',
  on: [
    'AgentSuspended',
    'AgentDeleted',
    'AgentKeyRevoked',
    'UserDisabled',
    'UserDeleted',
    'PasswordSet',
    'SessionsRevoked',
    'SessionRevoked',
    'DelegationWithdrawn',
  ],
  handle: async (event: RecordedEvent) => {
    const found = orphansOf(event);
    if (found === undefined) return;
    const level = await needs.positions.reached(['agent_sessions'], event.position, CATCH_UP_MS);
    if (!level) throw new Error('the table of agent sessions is behind the log');
    const { reason, ...of } = found;
    const { tenantId } = event.metadata;
    await endOpenSessions(needs, { tenantId, ...of }, { reason, cause: event.id });
  },
});

function orphansOf(
  event: RecordedEvent,
): (Omit<OpenOf, 'tenantId'> & { readonly reason: EndReason | undefined }) | undefined {
  const data = event.data as unknown as Data;
  switch (event.type) {
    case 'AgentSuspended':
      return { agentId: data.id, reason: 'agent_suspended' };
    case 'AgentDeleted':
      return { agentId: data.id, reason: 'agent_deleted' };
    case 'AgentKeyRevoked':
      return { keyId: data.id, reason: 'key_revoked' };
    case 'UserDisabled':
    case 'UserDeleted':
    case 'SessionsRevoked':
      return { userId: data.id, reason: undefined };
    case 'PasswordSet':
      return data.by === 'created' ? undefined : { userId: data.id, reason: undefined };
    case 'SessionRevoked':
      return { subjectSid: data.id, reason: 'login_ended' };
    case 'DelegationWithdrawn': {
      const { agent_id: agentId, user_id: userId } = data;
      if (agentId === undefined || userId === undefined) return undefined;
      return { agentId, userId, reason: 'delegation_withdrawn' };
    }
    default:
      return undefined;
  }
}

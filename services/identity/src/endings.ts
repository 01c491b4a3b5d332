/**
 * What is over by the streams, whatever the marks say: users, agents, keys and sessions that services ask
 * about while the shared cache is away. An id that no stream has is not over; it is no credential either.
 */
import type { Mark } from '@cardea/auth';
import { streamIdOf } from '@cardea/event-store';
import type { Peers, ServiceNeeds } from '@cardea/service';
import { agentKeys } from './agent-keys/agent-key.ts';
import { agentSessions } from './agent-sessions/agent-session.ts';
import { agents } from './agents/agent.ts';
import { apiKeys } from './api-keys/api-key.ts';
import type { Folded } from './folded.ts';
import { sessions } from './sessions/session.ts';
import { users } from './users/user.ts';

type Needs = Pick<ServiceNeeds, 'store' | 'revocations'> & { readonly folded: Folded };

export const endings =
  (needs: Needs): Peers['ended'] =>
  (marks) =>
    Promise.all(
      marks.map(
        // What this process has marked itself may stand in no stream yet.
        async (mark) => needs.revocations.isMarked(mark.kind, mark.id) || isOver(needs, mark),
      ),
    );

async function isOver({ folded, store }: Needs, { kind, id }: Mark): Promise<boolean> {
  switch (kind) {
    case 'user': {
      const status = (await folded.find(users, id))?.state.status;
      return status === 'disabled' || status === 'deleted';
    }
    case 'agent': {
      const status = (await folded.find(agents, id))?.state.status;
      return status === 'suspended' || status === 'deleted';
    }
    case 'key': {
      const found = (await folded.find(apiKeys, id)) ?? (await folded.find(agentKeys, id));
      return found?.state.status === 'revoked';
    }
    case 'asid': {
      const last = await store.readLast(streamIdOf(agentSessions, id));
      return last?.type === 'AgentSessionEnded';
    }
    case 'sid':
      return (await store.readLast(streamIdOf(sessions, id)))?.type === 'SessionRevoked';
  }
}

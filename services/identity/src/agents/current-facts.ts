/**
 * Returns the current facts of an agent, a session and a user from their streams, for services whose copies may lag.
 */
import type { CurrentFacts, FactsRequest } from '@cardea/contracts';
import type { Peers, ServiceDependencies } from '@cardea/service';
import { exists, type UserDirectory, users } from '../accounts/accounts.module.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { agentSessions } from './agent-sessions/agent-session.ts';
import { whyEnded } from './agent-sessions/basis.ts';
import { agents, isThere } from './agents/agent.ts';
import { copiedOfAgent } from './agents/service-grant.ts';

type Dependencies = Pick<ServiceDependencies, 'streams' | 'clock'> & {
  readonly snapshots: SnapshotCache;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export const currentFacts =
  (needs: Dependencies): Peers['identity']['facts'] =>
  async (asked) => {
    const [agent, session, user] = await Promise.all([
      agentOf(needs, asked),
      sessionOf(needs, asked),
      userOf(needs, asked),
    ]);
    return { agent, session, user };
  };

async function agentOf({ snapshots }: Dependencies, { tenantId, agentId }: FactsRequest) {
  if (agentId === undefined) return null;
  const agent = await snapshots.load(agents, { tenantId, id: agentId });
  if (agent.status === 'deleted') return { services: [], owner_user_id: null };
  if (!isThere(agent)) return null;
  const { services, owner_user_id } = agent.agent;
  return { services: copiedOfAgent(services), owner_user_id };
}

async function sessionOf(
  needs: Dependencies,
  { tenantId, sessionId }: FactsRequest,
): Promise<CurrentFacts['session']> {
  if (sessionId === undefined) return null;
  const { state } = await needs.streams.load(agentSessions, { tenantId, id: sessionId });
  if (state.status === 'none') return null;
  const { agent_id, user_id, epoch, expires_at } = state;
  const now = needs.clock.now();
  const isOver = (await whyEnded(needs, state, { tenantId, now })) !== undefined;
  const ended_at = state.ended_at ?? (isOver ? now.toISOString() : null);
  return { agent_id, user_id, epoch, expires_at, ended_at };
}

async function userOf({ snapshots }: Dependencies, { tenantId, userId }: FactsRequest) {
  if (userId === undefined) return null;
  const user = await snapshots.load(users, { tenantId, id: userId });
  if (user.status === 'deleted') return { status: 'deleted', vouched: false };
  if (!exists(user)) return null;
  return { status: user.status, vouched: user.vouched };
}

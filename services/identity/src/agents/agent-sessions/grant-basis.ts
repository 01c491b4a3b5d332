/** Reads the basis of an agent's authority from the streams, so withdrawals take effect at once. */

import type { UserDirectory } from '../../accounts/accounts.module.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import { agents } from '../agents/agent.ts';
import { delegationId, delegations } from '../delegations/delegation.ts';
import type { AgentSessionFacts } from './agent-session.ts';
import { type Authority, authorityOf } from './authority.ts';

type Dependencies = {
  readonly snapshots: Pick<SnapshotCache, 'load'>;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export type GrantBasis = {
  readonly tenantId: string;
  readonly agentId: string;
  readonly userId: string | null;
  readonly via: AgentSessionFacts['via'];
  readonly since: Date;
  readonly now: Date;
};

export async function grantBasisAuthority(needs: Dependencies, of: GrantBasis): Promise<Authority> {
  const { snapshots, userDirectory } = needs;
  const { tenantId, agentId, userId, since, now } = of;
  const loading = snapshots.load(agents, { tenantId, id: agentId });
  if (userId === null) return authorityOf({ agent: await loading, user: undefined, since, now });
  const [agent, account] = await Promise.all([loading, userDirectory.byId(tenantId, userId)]);
  // An unknown id may not even be a UUID, and has no delegation.
  const delegation =
    agent.status === 'active' && account.status === 'active'
      ? await snapshots.load(delegations, { tenantId, id: delegationId(userId, agentId) })
      : ({ status: 'none' } as const);
  const user = { account, delegation, needsDelegation: of.via === 'delegation' };
  return authorityOf({ agent, user, since, now });
}

/** Computes what the agent of an open session may reach now. The session was started with the user's own token. */
export const authorityOfSession = (
  needs: Dependencies,
  session: AgentSessionFacts,
  { tenantId, now }: { readonly tenantId: string; readonly now: Date },
): Promise<Authority> =>
  grantBasisAuthority(needs, {
    tenantId,
    agentId: session.agent_id,
    userId: session.user_id,
    via: session.via,
    since: new Date(session.created_at),
    now,
  });

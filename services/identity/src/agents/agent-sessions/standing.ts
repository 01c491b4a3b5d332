/** Reads what an agent's authority rests on, out of the streams themselves: what was taken back is gone at once. */
import { agents } from '../agents/agent.ts';
import { delegationId, delegations } from '../delegations/delegation.ts';
import type { Machines } from '../machines.ts';
import type { AgentSessionFacts } from './agent-session.ts';
import { type Authority, authorityOf } from './authority.ts';

export type Standing = {
  readonly tenantId: string;
  readonly agentId: string;
  readonly userId: string | null;
  readonly via: AgentSessionFacts['via'];
  readonly since: Date;
  readonly now: Date;
};

export async function standingAuthority(machines: Machines, of: Standing): Promise<Authority> {
  const { folded, people } = machines;
  const { tenantId, agentId, userId, since, now } = of;
  const agent = await folded.load(agents, { tenantId, id: agentId });
  if (userId === null) return authorityOf({ agent, user: undefined, since, now });
  const [account, delegation] = await Promise.all([
    people.byId(tenantId, userId),
    agent.status === 'active'
      ? folded.load(delegations, { tenantId, id: delegationId(userId, agentId) })
      : ({ status: 'none' } as const),
  ]);
  const user = { account, delegation, needsDelegation: of.via === 'delegation' };
  return authorityOf({ agent, user, since, now });
}

/** What an open session's agent may reach now; the user's own token stood behind it when it began. */
export const authorityOfSession = (
  machines: Machines,
  session: AgentSessionFacts,
  { tenantId, now }: { readonly tenantId: string; readonly now: Date },
): Promise<Authority> =>
  standingAuthority(machines, {
    tenantId,
    agentId: session.agent_id,
    userId: session.user_id,
    via: session.via,
    since: new Date(session.created_at),
    now,
  });

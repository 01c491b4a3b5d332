/** Lists the agents of a tenant from the table. */
import { type Database, pageOfTenant } from '@cardea/read-models';
import type { AgentData } from './agent.ts';
import { agentRows } from './agents.projection.ts';
import { copiedOfAgent, grantsAt } from './service-grant.ts';

const LISTED = agentRows.select(
  'id',
  'tenant_id',
  'app_id',
  'name',
  'description',
  'status',
  'owner_user_id',
  'services',
  'approvers',
  'created_at',
);

export type AgentList = {
  readonly tenantId: string;
  readonly offset: number;
  readonly limit: number;
  /** Entries of an agent's services that have ended by this time are not shown. */
  readonly now: Date;
  /** Only agents that this user owns, has delegated to, or has had sessions with. */
  readonly ofUser?: string;
};

const OF_USER = `(owner_user_id = $2
  OR id IN (SELECT agent_id FROM identity.delegations
            WHERE tenant_id = $1 AND user_id = $2 AND withdrawn_at IS NULL)
  OR id IN (SELECT agent_id FROM identity.agent_sessions WHERE tenant_id = $1 AND user_id = $2))`;

export async function listAgents(database: Database, list: AgentList) {
  const values: unknown[] = [list.tenantId];
  if (list.ofUser !== undefined) values.push(list.ofUser);
  const where = `tenant_id = $1${list.ofUser === undefined ? '' : ` AND ${OF_USER}`}`;
  const { rows, total } = await pageOfTenant(database, list.tenantId, {
    select: LISTED,
    from: 'identity.agents',
    where,
    values,
    order: 'created_at DESC, id',
    offset: list.offset,
    limit: list.limit,
  });
  const agents = rows.map(({ created_at, approvers, ...agent }) =>
    shownAgent(
      { ...agent, approvers: approvers ?? [], created_at: created_at.toISOString() },
      { ...agent, now: list.now },
    ),
  );
  return { rows: agents, total };
}

/** Returns the agent in the form of responses. */
export const shownAgent = (
  agent: AgentData,
  of: {
    readonly tenant_id: string;
    readonly status: 'active' | 'suspended';
    readonly now: Date;
  },
) => ({
  id: agent.id,
  tenant_id: of.tenant_id,
  app_id: agent.app_id,
  name: agent.name,
  description: agent.description,
  status: of.status,
  owner_user_id: agent.owner_user_id,
  services: copiedOfAgent(grantsAt(agent.services, of.now)),
  approvers: [...(agent.approvers ?? [])],
  created_at: agent.created_at,
});

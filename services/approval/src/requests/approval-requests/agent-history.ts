/** The earlier requests of an agent to the same person or set, by which people recognize an agent that they know. */
import type { Queryable } from '@cardea/read-models';
import { HISTORY_ROWS_MAX } from '../limits.ts';
import type { RequestFacts } from './request.ts';

export type AgentHistory = {
  /** The agent has never sent this person or set a request before. */
  readonly isFirst: boolean;
  /** When an earlier request of the agent was last approved. Null if none of the latest ones was. */
  readonly lastApprovedAt: Date | null;
};

/** The index `requests_of_agent` has the order, so a query reads no more rows than its limit. */
const earlier = (limit: number): string => `
  SELECT r.status, r.responded_at FROM approval.requests r
  WHERE r.tenant_id = $1 AND r.user_id = $2 AND r.agent_id = $3 AND r.id <> $4
    AND r.created_at <= $5
  ORDER BY r.created_at DESC LIMIT ${limit}`;
const valuesOf = (facts: RequestFacts): readonly string[] => {
  const { tenant_id, user_id, agent_id, id, created_at } = facts;
  return [tenant_id, user_id, agent_id, id, created_at];
};

const ANY = earlier(1);
/**
 * True if the agent has never sent this person or set a request before. It reads one row, because it runs for each
 * mail.
 */
export async function isFirstRequest(sql: Queryable, facts: RequestFacts): Promise<boolean> {
  return (await sql.query(ANY, valuesOf(facts))).rowCount === 0;
}

const HISTORY = `
  WITH earlier AS (${earlier(HISTORY_ROWS_MAX)})
  SELECT count(*) = 0 AS is_first,
         max(responded_at) FILTER (WHERE status = 'approved') AS last_approved_at
  FROM earlier`;

export async function agentHistory(sql: Queryable, facts: RequestFacts): Promise<AgentHistory> {
  const { rows } = await sql.query<{
    readonly is_first: boolean;
    readonly last_approved_at: Date | null;
  }>(HISTORY, valuesOf(facts));
  const { is_first: isFirst = true, last_approved_at: lastApprovedAt = null } = rows[0] ?? {};
  return { isFirst, lastApprovedAt };
}

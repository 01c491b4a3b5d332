/**
 * Reports policies to the operator: those that no approver can answer, because no administrator vouches for the
 * approver, and those that every registered user can answer while registration is open.
 */
import type { Streams } from '@cardea/event-store';
import type { Database } from '@cardea/read-models';
import { type Policy, policySets } from './policy.ts';
import { approverMayBeAnybody, tuplesNameApprovers } from './policy-shape.ts';

export type BarredPolicy = {
  readonly tenant_id: string;
  readonly policy_id: string;
  /**
   * The approver who is not vouched for. `agent_owner`, `session_user`: no possible approver of this kind is vouched
   * for.
   */
  readonly approver: string;
};

/** Policies that ask the session's user without a vouch. Anybody can answer them while registration is open. */
export type OpenPolicy = { readonly tenant_id: string; readonly policy_id: string };

type Dependencies = { readonly database: Database; readonly streams: Streams };

/** Tenants that have a service, each with the users who are vouched for. */
const TENANTS = `
  SELECT s.tenant_id,
    coalesce((SELECT array_agg(u.user_id) FROM vault.users u
      WHERE u.tenant_id = s.tenant_id AND u.vouched AND u.status <> 'disabled'), '{}') AS vouched,
    coalesce((SELECT jsonb_object_agg(a.agent_id, a.owner_user_id) FROM vault.agents a
      WHERE a.tenant_id = s.tenant_id AND a.status <> 'deleted'), '{}') AS owners
  FROM (SELECT DISTINCT tenant_id FROM vault.services WHERE tenant_id > $1) s
  ORDER BY s.tenant_id LIMIT $2`;
const TENANTS_PER_PAGE = 100;

type Tenant = {
  readonly tenant_id: string;
  readonly vouched: readonly string[];
  readonly owners: { readonly [agentId: string]: string | null };
};

type Findings = {
  readonly barred: BarredPolicy[];
  readonly open: OpenPolicy[];
  /** Policies whose approvers can be set by keys and machines with `fga:write`. */
  readonly byTuples: OpenPolicy[];
};

export async function policyFindings({ database, streams }: Dependencies): Promise<Findings> {
  const barred: BarredPolicy[] = [];
  const open: OpenPolicy[] = [];
  const byTuples: OpenPolicy[] = [];
  let after = '';
  for (;;) {
    const { rows } = await database.system.query<Tenant>(TENANTS, [after, TENANTS_PER_PAGE]);
    for (const tenant of rows) {
      const { tenant_id: tenantId } = tenant;
      const { state } = await streams.load(policySets, { tenantId, id: tenantId });
      barred.push(
        ...state.flatMap((policy) => {
          const approver = barredApprover(policy, tenant);
          if (approver === undefined) return [];
          return [{ tenant_id: tenantId, policy_id: policy.id, approver }];
        }),
      );
      const enabled = state.filter((policy) => policy.enabled);
      const found = ({ id }: Policy): OpenPolicy => ({ tenant_id: tenantId, policy_id: id });
      open.push(...enabled.filter(approverMayBeAnybody).map(found));
      byTuples.push(...enabled.filter(tuplesNameApprovers).map(found));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < TENANTS_PER_PAGE) return { barred, open, byTuples };
    after = last.tenant_id;
  }
}

/** The approver of the policy who cannot answer. Undefined if somebody can, or no approval is required. */
export function barredApprover(
  policy: Pick<Policy, 'approver' | 'approver_vouched' | 'agent_ids' | 'effect' | 'enabled'>,
  { vouched, owners }: Pick<Tenant, 'vouched' | 'owners'>,
): string | undefined {
  const { approver, agent_ids: agentIds } = policy;
  if (!policy.enabled || policy.effect !== 'require_approval') return undefined;
  if (!policy.approver_vouched) return undefined;
  if (approver === 'session_user') return vouched.length > 0 ? undefined : approver;
  if (approver === 'agent_owner') {
    const agents = agentIds === '*' ? Object.keys(owners) : agentIds;
    const canAnswer = agents.some((id) => vouched.includes(owners[id] ?? ''));
    return canAnswer ? undefined : approver;
  }
  // The members of a set are looked up when a request is sent to the set, so they are not checked here.
  if (!('user_id' in approver)) return undefined;
  return vouched.includes(approver.user_id) ? undefined : approver.user_id;
}

/** Evaluates the policies of a tenant for one request by an agent for fields of a service. */
import { type Escalation, printApproverSet } from '@cardea/contracts';
import type { Approver, Policy, PolicySet, Severity } from './policy.ts';

export type Question = {
  readonly agentId: string;
  readonly serviceName: string;
  readonly fields: readonly string[];
};

/** Who has to approve, and how. */
export type ApprovalRequirement = {
  /** `nobody`: two policies name different users, and neither can approve for both. */
  readonly approver: Approver | 'nobody';
  /** Whether only a user for whom an administrator vouches may approve. */
  readonly approver_vouched: boolean;
  readonly severity: Severity;
  readonly ttl_seconds: number;
  readonly use_window_seconds: number;
  readonly max_auth_age_seconds: number | null;
  readonly number_match: boolean;
  readonly approvals_needed: number;
  readonly exclude_session_user: boolean;
  /** A second approver, who may also decide once the request has waited for a given time. Null for none. */
  readonly escalate: Escalation | null;
};

export type PolicyVersion = { readonly id: string; readonly version: number };
export type PolicyVerdict =
  | { readonly effect: 'allow'; readonly matched: readonly PolicyVersion[] }
  | { readonly effect: 'deny'; readonly matched: readonly PolicyVersion[] }
  | {
      readonly effect: 'require_approval';
      readonly matched: readonly PolicyVersion[];
      readonly requirement: ApprovalRequirement;
    };

/** Any `deny` wins, then any `require_approval`. */
export function evaluatePolicies(policies: PolicySet, question: Question): PolicyVerdict {
  const governing = policies.filter((policy) => governs(policy, question));
  const matched = governing
    .map(({ id, version }) => ({ id, version }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (governing.length === 0) return { effect: 'allow', matched };
  if (governing.some(({ effect }) => effect === 'deny')) return { effect: 'deny', matched };
  return { effect: 'require_approval', matched, requirement: requirementOf(governing) };
}

function governs(policy: Policy, { agentId, serviceName, fields }: Question): boolean {
  return (
    policy.enabled &&
    (policy.service_name === '*' || policy.service_name === serviceName) &&
    (policy.agent_ids === '*' || policy.agent_ids.includes(agentId)) &&
    (policy.fields === '*' || policy.fields.some((field) => fields.includes(field)))
  );
}

const RANK: { readonly [severity in Severity]: number } = { low: 0, medium: 1, high: 2 };

/** The strictest requirement of several policies in each respect. */
function requirementOf(governing: readonly Policy[]): ApprovalRequirement {
  const ages = governing.flatMap(({ max_auth_age_seconds: age }) => (age === null ? [] : [age]));
  const approver = approverOf(governing);
  return {
    approver,
    approver_vouched: governing.some(({ approver_vouched }) => approver_vouched),
    severity: governing
      .map(({ severity }) => severity)
      .reduce((highest, each) => (RANK[each] > RANK[highest] ? each : highest), 'low'),
    ttl_seconds: Math.min(...governing.map(({ ttl_seconds }) => ttl_seconds)),
    use_window_seconds: Math.min(...governing.map((each) => each.use_window_seconds)),
    max_auth_age_seconds: ages.length === 0 ? null : Math.min(...ages),
    number_match: governing.some(({ number_match }) => number_match),
    approvals_needed: Math.max(...governing.map(({ approvals_needed: needed = 1 }) => needed)),
    exclude_session_user: governing.some((each) => each.exclude_session_user === true),
    escalate: escalationOf(governing, approver),
  };
}

/** A named user or set takes precedence over the agent's owner, who takes precedence over the session's user. */
function approverOf(governing: readonly Policy[]): ApprovalRequirement['approver'] {
  const approvers = governing.map(({ approver }) => approver);
  const explicit = approvers.filter((approver) => typeof approver === 'object');
  const named = new Set(explicit.map(keyOf));
  const [first] = explicit;
  if (first !== undefined) return named.size === 1 ? first : 'nobody';
  return approvers.includes('agent_owner') ? 'agent_owner' : 'session_user';
}

const keyOf = (approver: Approver | 'nobody'): string => {
  if (typeof approver === 'string') return approver;
  return 'user_id' in approver ? `user:${approver.user_id}` : printApproverSet(approver);
};

/**
 * The escalation of the policies that name the approver. If several name the same one, nobody else may decide unless
 * all of them escalate to the same second approver. The longest wait counts.
 */
function escalationOf(
  governing: readonly Policy[],
  approver: ApprovalRequirement['approver'],
): Escalation | null {
  const naming = governing.filter((policy) => keyOf(policy.approver) === keyOf(approver));
  const escalations = naming.map(({ escalate }) => escalate ?? null);
  const [first = null] = escalations;
  if (first === null) return null;
  const isSame = (other: Escalation | null): other is Escalation =>
    other !== null && keyOf(other.approver) === keyOf(first.approver);
  if (!escalations.every(isSame)) return null;
  const after_seconds = Math.max(...escalations.map((each) => each.after_seconds));
  return { after_seconds, approver: first.approver };
}

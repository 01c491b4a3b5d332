/**
 * The approval policies of a tenant. They are one stream in which every event contains the whole set, so that a vend is
 * decided on one consistent set.
 */
import type { ApproverSet, Escalation } from '@cardea/contracts';
import type { Stream } from '@cardea/event-store';

export type Severity = 'low' | 'medium' | 'high';
/** A set is the holders of a role, or of a relation to an object. */
export type Approver = 'session_user' | 'agent_owner' | { readonly user_id: string } | ApproverSet;

export type PolicyTerms = {
  readonly name: string;
  /** The name of one service, or `*`. */
  readonly service_name: string;
  readonly fields: readonly string[] | '*';
  readonly agent_ids: readonly string[] | '*';
  readonly effect: 'require_approval' | 'deny';
  readonly approver: Approver;
  /** Whether only a user for whom an administrator vouches may approve. */
  readonly approver_vouched: boolean;
  readonly severity: Severity;
  readonly ttl_seconds: number;
  readonly use_window_seconds: number;
  readonly max_auth_age_seconds: number | null;
  readonly number_match: boolean;
  /** How many different persons of a set have to approve. Missing in older policies. */
  readonly approvals_needed?: number;
  /** Whether the person for whom the agent acts may not approve. Missing in older policies. */
  readonly exclude_session_user?: boolean;
  /** A second approver, who may also decide once the request has waited for a given time. Missing in older policies. */
  readonly escalate?: Escalation | null;
  readonly enabled: boolean;
};

export type Policy = PolicyTerms & {
  readonly id: string;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** SHA-256 of the body that created it, if the request can be repeated. */
  readonly request_hash: string | null;
};

export type PolicySet = readonly Policy[];

type Data = { readonly policy: Policy; readonly policies: PolicySet };
export type PolicyAdded = { readonly type: 'PolicyAdded'; readonly data: Data };
export type PolicyChanged = { readonly type: 'PolicyChanged'; readonly data: Data };
export type PolicyRemoved = { readonly type: 'PolicyRemoved'; readonly data: Data };
export type PolicyEvent = PolicyAdded | PolicyChanged | PolicyRemoved;

export const POLICIES_MAX = 100;

/** Policies of version 1 lacked the field and always required a vouch. */
const withVouching = (data: object) => {
  const { policy, policies } = data as Data;
  const vouched = { approver_vouched: true };
  return {
    policy: { ...vouched, ...policy },
    policies: policies.map((each) => ({ ...vouched, ...each })),
  };
};

/** The stream's id is the tenant's. */
export const policySets: Stream<PolicySet, PolicyEvent> = {
  noun: 'policies',
  initial: [],
  stateCarrying: true,
  upcasters: {
    PolicyAdded: [withVouching],
    PolicyChanged: [withVouching],
    PolicyRemoved: [withVouching],
  },
  evolve: (_before, { data }) => data.policies,
};

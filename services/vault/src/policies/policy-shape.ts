/** The schemas of approval policies for administrators. */
import {
  APPROVAL_TTL_SECONDS_MAX,
  APPROVALS_NEEDED_MAX,
  EscalationShape,
  named,
  RelationApprover,
  RoleApprover,
  Time,
  UserApprover,
} from '@cardea/contracts';
import Type, { type Static } from 'typebox';
import type { Policy, PolicyTerms } from './policy.ts';

const NAMES_MAX = 50;
const NAME_MAX = 64;
const ID_MAX = 128;
const WAIT_MIN_S = 30;
const USE_MIN_S = 10;
const AUTH_AGE_MAX_S = 86_400;
const DEFAULT_S = 300;

export const SeverityShape = named('Severity', Type.Enum(['low', 'medium', 'high']));
/** A policy in force, as a decision refers to it. */
export const PolicyVersionShape = named(
  'ApprovalPolicyVersion',
  Type.Object({ id: Type.String(), version: Type.Integer() }),
);
const namedOrAll = (longest: number) =>
  Type.Union([
    Type.Literal('*'),
    Type.Array(Type.String({ minLength: 1, maxLength: longest }), {
      minItems: 1,
      maxItems: NAMES_MAX,
      uniqueItems: true,
    }),
  ]);
export const ApproverShape = named(
  'Approver',
  Type.Union([
    Type.Literal('session_user'),
    Type.Literal('agent_owner'),
    UserApprover,
    RoleApprover,
    RelationApprover,
  ]),
);

const terms = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  service_name: Type.String({ minLength: 1, maxLength: ID_MAX }),
  fields: namedOrAll(NAME_MAX),
  agent_ids: namedOrAll(ID_MAX),
  effect: named('ApprovalPolicyEffect', Type.Enum(['require_approval', 'deny'])),
  approver: ApproverShape,
  approver_vouched: Type.Boolean(),
  severity: SeverityShape,
  ttl_seconds: Type.Integer({ minimum: WAIT_MIN_S, maximum: APPROVAL_TTL_SECONDS_MAX }),
  use_window_seconds: Type.Integer({ minimum: USE_MIN_S, maximum: APPROVAL_TTL_SECONDS_MAX }),
  max_auth_age_seconds: Type.Union([
    Type.Integer({ minimum: 1, maximum: AUTH_AGE_MAX_S }),
    Type.Null(),
  ]),
  number_match: Type.Boolean(),
  approvals_needed: Type.Integer({ minimum: 1, maximum: APPROVALS_NEEDED_MAX }),
  exclude_session_user: Type.Boolean(),
  escalate: Type.Union([EscalationShape, Type.Null()]),
  enabled: Type.Boolean(),
};

const { name, service_name, fields, agent_ids, effect, ...rest } = terms;
const required = { name, service_name, fields, agent_ids, effect };

export const NewPolicy = Type.Object({
  ...required,
  ...Type.Partial(Type.Object(rest)).properties,
});
export const PolicyPatch = Type.Partial(Type.Object(terms));
export const PolicyShape = named(
  'ApprovalPolicy',
  Type.Object({
    id: Type.String(),
    version: Type.Integer({ minimum: 1 }),
    ...terms,
    /** Facts about valid terms that an administrator should know. */
    warnings: Type.Array(
      named(
        'ApprovalPolicyWarning',
        Type.Object({
          code: Type.Enum(['approver_may_be_anybody', 'tuples_name_approvers', 'never_escalates']),
          message: Type.String(),
        }),
      ),
    ),
    created_at: Time,
    updated_at: Time,
  }),
);
export const PolicyId = Type.Object({ id: Type.String({ minLength: 1, maxLength: ID_MAX }) });

export const withDefaults = (given: Static<typeof NewPolicy>): PolicyTerms => ({
  approver: 'session_user',
  approver_vouched: true,
  severity: 'medium',
  ttl_seconds: DEFAULT_S,
  use_window_seconds: DEFAULT_S,
  max_auth_age_seconds: null,
  number_match: false,
  approvals_needed: 1,
  exclude_session_user: false,
  escalate: null,
  enabled: true,
  ...given,
});

const APPROVER_MAY_BE_ANYBODY = {
  code: 'approver_may_be_anybody',
  message:
    'Nobody vouches for the approver. While registration is open, the holder of an agent key can register a user, start a session for that user, and approve as that user.',
};

/** Under these terms an agent could act as its own approver while registration is open. */
export const approverMayBeAnybody = ({
  approver,
  approver_vouched,
  effect,
}: Pick<PolicyTerms, 'approver' | 'approver_vouched' | 'effect'>): boolean =>
  effect === 'require_approval' && approver === 'session_user' && !approver_vouched;

const TUPLES_NAME_APPROVERS = {
  code: 'tuples_name_approvers',
  message:
    'Whoever may write tuples names the approvers: administrators, and every API key and machine with `fga:write`. A vouched member with such a key can make themselves one. A role is given by administrators alone.',
};

/**
 * Keys and machines with `fga:write` can change who belongs to the set that may decide, at first or after an
 * escalation.
 */
export const tuplesNameApprovers = ({
  approver,
  escalate,
  effect,
}: Pick<PolicyTerms, 'approver' | 'escalate' | 'effect'>): boolean =>
  effect === 'require_approval' &&
  [approver, escalate?.approver].some((each) => typeof each === 'object' && 'relation' in each);

const NEVER_ESCALATES = {
  code: 'never_escalates',
  message:
    'The request ends before it would be escalated: `escalate.after_seconds` is not below `ttl_seconds`.',
};

const neverEscalates = ({ escalate, ttl_seconds }: PolicyTerms): boolean =>
  escalate !== undefined && escalate !== null && escalate.after_seconds >= ttl_seconds;

export function shownPolicy({ request_hash: _, ...policy }: Policy): Static<typeof PolicyShape> {
  const warnings = [
    ...(approverMayBeAnybody(policy) ? [APPROVER_MAY_BE_ANYBODY] : []),
    ...(tuplesNameApprovers(policy) ? [TUPLES_NAME_APPROVERS] : []),
    ...(neverEscalates(policy) ? [NEVER_ESCALATES] : []),
  ];
  const { approvals_needed = 1, exclude_session_user = false, escalate = null } = policy;
  const terms = { ...policy, approvals_needed, exclude_session_user, escalate };
  return { ...terms, warnings } as Static<typeof PolicyShape>;
}

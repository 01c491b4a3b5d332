/** The calls that vault makes to approval (`docs/design/approval.md`, Commands for vault). */
import Type, { type TSchema } from 'typebox';
import { nullable } from '../fields.ts';
import { APPROVALS_NEEDED_MAX, ApproverSetShape, EscalationShape } from './approver-set.ts';
import { type AnswerOf, internalCalls, type RequestOf, TENANT_REFUSALS } from './internal-call.ts';

/** The longest time that a request may wait for its decision, and that its approval may wait for its use: a week. */
export const APPROVAL_TTL_SECONDS_MAX = 604_800;
/** A request that may wait longer than this for its decision or its use does not end with the session that made it. */
export const SESSION_BOUND_SECONDS_MAX = 3_600;

const text = Type.String({ minLength: 1 });
const instant = Type.String({ format: 'date-time' });
const optional = <Of extends TSchema>(schema: Of) => Type.Optional(nullable(schema));
const outcome = <const Name extends string>(name: Name) => ({ outcome: Type.Literal(name) });

/** The origin of the request to vault, which is encrypted again under approval's own keys. */
const context = Type.Object({
  ip: optional(Type.String()),
  user_agent: optional(Type.String()),
  app_id: optional(Type.String()),
  app_claimed: optional(Type.Literal(true)),
  agent_id: optional(Type.String()),
  request_id: optional(Type.String()),
  traceparent: optional(Type.String()),
});
const requestId = Type.Object({ id: text });
/** The answer to the agent while the decision is pending. */
const waiting = { expires_in: Type.Integer({ minimum: 0 }), binding_message: Type.String() };
const inactive = [
  Type.Object(outcome('user_inactive')),
  Type.Object(outcome('user_not_vouched')),
] as const;

export const approvalCalls = internalCalls({
  open: {
    name: 'internal_open_approval',
    summary: 'Opens a request for a person’s decision, or joins the one that stands',
    method: 'post',
    path: '/internal/v1/approval/open',
    body: Type.Object({
      command_id: text,
      tenant_id: text,
      app_id: optional(text),
      digest: text,
      agent_id: text,
      session_id: text,
      /** The person who has to approve, or the text form of `approver`. */
      user_id: text,
      /** The set whose members may each decide. Missing if one person has to approve. */
      approver: optional(ApproverSetShape),
      needed: optional(Type.Integer({ minimum: 1, maximum: APPROVALS_NEEDED_MAX })),
      exclude_session_user: optional(Type.Boolean()),
      session_user_id: optional(text),
      /** A second approver, who may also decide once the request has waited for a given time. */
      escalate: optional(EscalationShape),
      /** True if the vend releases a connection that belongs to the approver. Then nobody else may decide. */
      own_connection: optional(Type.Boolean()),
      service_name: text,
      fields: Type.Array(text, { minItems: 1 }),
      /** Approval servers of the previous release refuse `name`. Vault then repeats the request without it. */
      policies: Type.Array(
        Type.Object({ id: text, version: Type.Integer(), name: optional(Type.String()) }),
      ),
      severity: Type.Enum(['low', 'medium', 'high']),
      ttl_seconds: Type.Integer({ minimum: 1, maximum: APPROVAL_TTL_SECONDS_MAX }),
      use_window_seconds: Type.Integer({ minimum: 1, maximum: APPROVAL_TTL_SECONDS_MAX }),
      /** If true, the end of the session does not end the request, and another session may use its approval. */
      outlives_session: optional(Type.Boolean()),
      grant_ttl_seconds: Type.Integer({ minimum: 1 }),
      max_auth_age_seconds: optional(Type.Integer({ minimum: 0 })),
      number_match: Type.Boolean(),
      vouch_required: optional(Type.Boolean()),
      purpose: optional(Type.String()),
      context: Type.Optional(context),
    }),
    ok: Type.Union([
      Type.Object({ ...outcome('opened'), id: text, ...waiting }),
      Type.Object({ ...outcome('joined'), id: text, ...waiting }),
      Type.Object({ ...outcome('cooling_down'), until: instant }),
      Type.Object({ ...outcome('muted'), until: instant }),
      Type.Object({ ...outcome('rate_limited'), retry_after: Type.Integer({ minimum: 1 }) }),
      Type.Object({
        ...outcome('no_approver'),
        reason: Type.Enum(['too_many', 'nobody_holds']),
      }),
      ...inactive,
    ]),
    refusals: TENANT_REFUSALS,
    tenantField: 'tenant_id',
  },
  get: {
    name: 'internal_get_approval',
    summary: 'A request as it stands',
    method: 'get',
    path: '/internal/v1/approval/requests/{id}',
    params: requestId,
    query: Type.Object({ tenant_id: text }),
    ok: Type.Union([
      Type.Object({
        ...outcome('found'),
        /** Includes the other fields that its readers may see (`docs/contract.md` 2.11). */
        request: Type.Object({
          id: text,
          status: Type.Enum(['pending', 'approved', 'denied', 'expired']),
          digest: nullable(Type.String()),
        }),
      }),
      Type.Object(outcome('not_found')),
    ]),
    refusals: TENANT_REFUSALS,
    tenantField: 'tenant_id',
  },
  consume: {
    name: 'internal_consume_approval',
    summary: 'Uses an approval up for one grant; again for the same grant',
    method: 'post',
    path: '/internal/v1/approval/requests/{id}/consume',
    params: requestId,
    body: Type.Object({
      tenant_id: text,
      agent_id: text,
      digest: text,
      grant_id: text,
      context: Type.Optional(context),
    }),
    ok: Type.Union([
      Type.Object({ ...outcome('consumed'), again: Type.Boolean(), use_before: instant }),
      Type.Object({ ...outcome('pending'), ...waiting }),
      Type.Object(outcome('denied')),
      Type.Object(outcome('expired')),
      Type.Object(outcome('mismatch')),
      Type.Object(outcome('consumed_by_other')),
      Type.Object(outcome('not_found')),
      Type.Object({ ...outcome('no_approver'), reason: Type.Literal('approver_lost') }),
      ...inactive,
    ]),
    refusals: TENANT_REFUSALS,
    tenantField: 'tenant_id',
  },
});

export type OpenApproval = RequestOf<(typeof approvalCalls)['open']>;
export type OpenedApproval = AnswerOf<(typeof approvalCalls)['open']>;
export type ConsumeApproval = RequestOf<(typeof approvalCalls)['consume']>;
export type ConsumedApproval = AnswerOf<(typeof approvalCalls)['consume']>;

/** The request as clients see it (`docs/contract.md` 2.11), and the parts that its endpoints share. */
import type { AgentPrincipal, ClientPrincipal, UserPrincipal } from '@cardea/auth';
import { type ApproverSet, ApproverSetShape, NullableTime, named, Time } from '@cardea/contracts';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { Details } from '../actions/details.ts';
import { type IdentityFacts, isActive } from '../identity-facts/identity-facts.ts';
import {
  type AccessWanted,
  type ActionBinding,
  type Binding,
  ORIGINS,
  type Origin,
  SEVERITIES,
  type Severity,
  STATUSES,
  type Status,
} from './request.ts';

const closed = <Properties extends Parameters<typeof Type.Object>[0]>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
const text = Type.String();
const textOrNull = Type.Union([Type.String(), Type.Null()]);

export const SeverityShape = named('Severity', Type.Enum(SEVERITIES));
export const StatusShape = named('ApprovalStatus', Type.Enum(STATUSES));

/** A free form with limits. If one is exceeded, the handler names it. */
export const ActionDetails = named('ActionDetails', Type.Record(Type.String(), Type.Unknown()));
const ACTION_DIGEST_CHARS = { min: 16, max: 128 } as const;
/** The caller's own digest. It is shown, so it has only visible characters. */
export const ActionDigest = Type.String({
  minLength: ACTION_DIGEST_CHARS.min,
  maxLength: ACTION_DIGEST_CHARS.max,
  pattern: '^[\\x21-\\x7e]+$',
});

/** How many have approved a request, and how many have to. */
export const ApprovalsShape = named(
  'ApprovalsGiven',
  closed({ given: Type.Integer({ minimum: 0 }), needed: Type.Integer({ minimum: 1 }) }),
);

/** Codes with which an approval may be refused that the caller cannot remedy with the request. */
export const APPROVE_REFUSALS = [
  'request_not_found',
  'already_given',
  'approver_not_vouched',
  'approver_excluded',
  'approver_not_admin',
  'too_many_attempts',
] as const;

export const requestShape = named(
  'ApprovalRequest',
  closed({
    id: text,
    tenant_id: text,
    agent_id: text,
    agent_name: text,
    user_id: text,
    user_email: text,
    user_vouched: Type.Boolean(),
    origin: named('ApprovalOrigin', Type.Enum(ORIGINS)),
    action: text,
    resource: Type.Optional(text),
    reason: Type.Optional(text),
    severity: SeverityShape,
    status: StatusShape,
    expires_at: Time,
    responded_at: NullableTime,
    responded_by: textOrNull,
    created_at: Time,
    approver: Type.Optional(ApproverSetShape),
    approvals: Type.Optional(ApprovalsShape),
    responders: Type.Optional(Type.Array(text)),
    comment: Type.Optional(text),
    details: Type.Optional(ActionDetails),
    action_binding: Type.Optional(
      named(
        'ActionBinding',
        closed({
          digest: text,
          action_digest: Type.Optional(text),
          use_window_seconds: Type.Integer(),
          use_before: Type.Optional(Time),
          consumed: Type.Boolean(),
        }),
      ),
    ),
    access: Type.Optional(
      named(
        'WantedAccess',
        closed({
          services: Type.Array(
            named('WantedService', closed({ service_name: text, fields: Type.Array(text) })),
          ),
          duration_seconds: Type.Integer(),
        }),
      ),
    ),
    escalates_at: Type.Optional(Time),
    escalates_to: Type.Optional(text),
    deputy_for: Type.Optional(text),
    policies: Type.Optional(Type.Array(text)),
    ip: Type.Optional(text),
    purpose: Type.Optional(text),
    grant_ttl_seconds: Type.Optional(Type.Integer()),
    deputy_for_name: Type.Optional(text),
    first_request: Type.Optional(Type.Boolean()),
    last_approved_at: Type.Optional(NullableTime),
    allowed_decisions: Type.Optional(
      Type.Array(named('ApprovalDecision', Type.Enum(['approve', 'deny']))),
    ),
    approve_refusal: Type.Optional(named('ApproveRefusal', Type.Enum(APPROVE_REFUSALS))),
    binding: Type.Optional(
      named(
        'ApprovalBinding',
        closed({
          session_id: text,
          service_name: text,
          fields: Type.Array(text),
          number_match: Type.Boolean(),
          max_auth_age_seconds: Type.Optional(Type.Integer()),
          use_before: Type.Optional(Time),
          consumed: Type.Boolean(),
        }),
      ),
    ),
  }),
);
export type Shown = Static<typeof requestShape>;

/** A request from its stream or its row, before the texts are decrypted. */
export type RequestSnapshot = {
  readonly id: string;
  readonly tenantId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly userId: string;
  readonly origin: Origin;
  /**
   * Whether the tenant vouched for the user when they responded. Null if they have not responded or if it was not
   * recorded.
   */
  readonly userVouched: boolean | null;
  readonly action: string;
  readonly resource: string | null;
  readonly severity: Severity;
  readonly status: Status;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly respondedAt: string | null;
  readonly respondedBy: string | null;
  readonly binding: Binding | null;
  readonly actionBinding: ActionBinding | null;
  readonly useBefore: string | null;
  readonly consumed: boolean;
  /** The set that may decide, and its approvers so far. Null for a request to one person. */
  readonly approver: ApproverSet | null;
  readonly needed: number;
  readonly responders: readonly string[];
  readonly access: AccessWanted | null;
  /** The time from which a second approver may decide too, and who that is. Null if there is none. */
  readonly escalatesAt: string | null;
  readonly escalatesTo: string | null;
  /** The person in whose place a deputy received the request. */
  readonly deputyFor: string | null;
};

export function shown(
  told: RequestSnapshot,
  of: {
    readonly email: string;
    readonly vouched: boolean;
    readonly reason: string | null;
    /** Lists leave out the details and the comment. */
    readonly details?: Details | undefined;
    readonly comment?: string | null;
  },
): Shown {
  const { email, vouched, reason, details, comment = null } = of;
  const { binding, actionBinding } = told;
  return {
    id: told.id,
    tenant_id: told.tenantId,
    agent_id: told.agentId,
    agent_name: told.agentName,
    user_id: told.userId,
    user_email: email,
    user_vouched: told.userVouched ?? vouched,
    origin: told.origin,
    action: told.action,
    ...(told.resource === null ? {} : { resource: told.resource }),
    ...(reason === null ? {} : { reason }),
    severity: told.severity,
    status: told.status,
    expires_at: told.expiresAt,
    responded_at: told.respondedAt,
    responded_by: told.respondedBy,
    created_at: told.createdAt,
    ...shownSet(told),
    ...(comment === null ? {} : { comment }),
    ...(details === undefined ? {} : { details }),
    ...(actionBinding === null ? {} : { action_binding: shownAction(actionBinding, told) }),
    ...shownAccess(told),
    ...shownEscalation(told),
    ...(told.deputyFor === null ? {} : { deputy_for: told.deputyFor }),
    ...(binding === null ? {} : { binding: shownBinding(binding, told) }),
  };
}

/** Fields that only requests to a set have, so that the shape of other requests did not change. */
function shownSet({ approver, needed, responders }: RequestSnapshot) {
  if (approver === null) return {};
  const approvals = { given: responders.length, needed };
  return { approver, approvals, responders: [...responders] };
}

function shownAction(
  { digest, action_digest, use_window_seconds }: ActionBinding,
  { useBefore, consumed }: RequestSnapshot,
) {
  return {
    digest,
    ...(action_digest === undefined ? {} : { action_digest }),
    use_window_seconds,
    ...(useBefore === null ? {} : { use_before: useBefore }),
    consumed,
  };
}

function shownAccess({ access }: RequestSnapshot) {
  if (access === null) return {};
  const services = access.services.map(({ service_name, fields }) => ({
    service_name,
    fields: [...fields],
  }));
  return { access: { services, duration_seconds: access.duration_seconds } };
}

const shownEscalation = ({ escalatesAt, escalatesTo }: RequestSnapshot) =>
  escalatesAt === null || escalatesTo === null
    ? {}
    : { escalates_at: escalatesAt, escalates_to: escalatesTo };

function shownBinding(binding: Binding, { useBefore, consumed }: RequestSnapshot) {
  const maxAge = binding.max_auth_age_seconds;
  return {
    session_id: binding.session_id,
    service_name: binding.service_name,
    fields: [...binding.fields],
    number_match: binding.number_match,
    ...(maxAge === undefined ? {} : { max_auth_age_seconds: maxAge }),
    ...(useBefore === null ? {} : { use_before: useBefore }),
    consumed,
  };
}

const unauthenticated = { status: 401, code: 'unauthenticated' } as const;
/** Keys are not accepted by endpoints on which only users and agent sessions may act. */
export const NO_KEYS = { api_key: unauthenticated, agent_key: unauthenticated } as const;
export const USERS_ONLY = {
  ...NO_KEYS,
  agent: { status: 401, code: 'user_session_required' },
} as const;

export const requestId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });
export const target = (id: string | null) => ({ type: 'approval_request', id });

/** An admin who impersonates a user does not count as that user here. */
export const isImpersonated = (
  principal: AgentPrincipal | ClientPrincipal | UserPrincipal,
): boolean => principal.kind === 'user' && principal.impersonatedBy !== null;

export function maySee(
  principal: AgentPrincipal | UserPrincipal,
  of: { readonly user_id: string; readonly agent_id: string },
): boolean {
  switch (principal.kind) {
    case 'user':
      if (isImpersonated(principal)) return false;
      return principal.id === of.user_id || principal.roles.includes('admin');
    case 'agent':
      return principal.id === of.agent_id;
  }
}

/** Disabled and deleted users are refused immediately, even with a valid token. */
export async function isLive(
  {
    identityFacts,
    revocations,
  }: Pick<ServiceDependencies, 'revocations'> & { readonly identityFacts: IdentityFacts },
  tenantId: string,
  userId: string,
): Promise<boolean> {
  const revocation = { kind: 'user', id: userId } as const;
  const [isRevoked, user] = await Promise.all([
    revocations
      .look([revocation])
      .then(({ revoked: [is] }) => is === true)
      // If neither the cache nor identity is available, this process's own copy of the revocation list is used.
      .catch(() => revocations.isRevoked(revocation.kind, revocation.id)),
    identityFacts.user(tenantId, userId),
  ]);
  return !isRevoked && isActive(user);
}

/**
 * A request for a user's decision. It is sent once, decided once and consumed once. Its stream is the only source of
 * truth, because it orders approvals, denials, expiry and consumption.
 */
import type { ApproverSet, Escalation } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';
import { AUTH_AGE_SECONDS_MAX } from '@cardea/http';

export const SEVERITIES = ['low', 'medium', 'high'] as const;
export type Severity = (typeof SEVERITIES)[number];
export const STATUSES = ['pending', 'approved', 'denied', 'expired'] as const;
export type Status = (typeof STATUSES)[number];
export const ORIGINS = ['vend', 'agent', 'admin', 'self'] as const;
export type Origin = (typeof ORIGINS)[number];
export type ExpiryCause = 'time' | 'agent' | 'session' | 'user';

/**
 * The action of a vend's request. An agent that requests the same approval over REST gets the existing request of its
 * vend.
 */
export const VEND_ACTION = 'credential_access';

/** The action of an agent's request for access. Only a request with `access` gives any. */
export const ACCESS_ACTION = 'grant_access';

/** The access that an agent requests, and for how long. */
export type AccessWanted = {
  readonly services: readonly {
    readonly service_name: string;
    readonly fields: readonly string[];
  }[];
  readonly duration_seconds: number;
};

/** The facts to which vault binds the approval. A request without them never allows a vend. */
export type Binding = {
  /** Vault's digest in hex or base64url. It is only compared and never decoded. */
  readonly digest: string;
  readonly session_id: string;
  readonly service_name: string;
  readonly fields: readonly string[];
  /** The policies that require the approval. Older requests have no names. */
  readonly policies: readonly {
    readonly id: string;
    readonly version: number;
    readonly name?: string;
  }[];
  readonly use_window_seconds: number;
  /** How long a grant lasts at most, once the vend uses the approval. Absent in older requests. */
  readonly grant_ttl_seconds?: number;
  readonly max_auth_age_seconds?: number;
  readonly number_match: boolean;
  /** If true, only a user for whom the tenant vouches may approve. Absent in older requests. */
  readonly vouch_required?: boolean;
  /** If true, the end of the session does not end the request. */
  readonly outlives_session?: boolean;
  /** Four digits, encrypted under the user's key. */
  readonly code: Sealed;
};

/** The facts to which the approval of an action of a caller's own tool is bound. It never allows a vend. */
export type ActionBinding = {
  /** SHA-256 in hex over everything that the user is asked to approve. */
  readonly digest: string;
  /** The digest that the caller sent for its action. */
  readonly action_digest?: string;
  readonly use_window_seconds: number;
};

export type RequestFacts = {
  readonly id: string;
  readonly tenant_id: string;
  readonly app_id?: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly user_id: string;
  readonly action: string;
  readonly resource?: string;
  readonly reason?: Sealed;
  /** The purpose of the agent's session, as the agent stated it. Encrypted like the reason. */
  readonly purpose?: Sealed;
  /**
   * The address from which the request was made. It is encrypted as in the metadata of the event, and its key is erased
   * with the audit log.
   */
  readonly ip?: Sealed;
  readonly severity: Severity;
  readonly ttl_seconds: number;
  readonly created_at: string;
  readonly expires_at: string;
  readonly origin: Origin;
  /** Whether the tenant vouched for the user when the request was made. Absent in older requests. */
  readonly user_vouched?: boolean;
  readonly channels: readonly string[];
  readonly binding?: Binding;
  readonly action_binding?: ActionBinding;
  /** JSON text, encrypted like the reason. */
  readonly details?: Sealed;
  /** The set whose members may decide. `user_id` is then the text of the set. */
  readonly approver?: ApproverSet;
  /** How many different persons of the set have to approve. Absent means 1. */
  readonly needed?: number;
  /** If true, the person for whom the agent acts may not approve, even as a member of the set. */
  readonly exclude_session_user?: boolean;
  readonly session_user_id?: string;
  /** The access that the agent receives if an administrator approves. */
  readonly access?: AccessWanted;
  /** A second approver, who may also decide once the request has waited for a given time. */
  readonly escalate?: Escalation;
  /** The person in whose place a deputy received the request. */
  readonly deputy_for?: string;
  /** Keyed hash of the body, if an Idempotency-Key was sent. */
  readonly body_hash?: string;
};

export type ApprovalRequested = {
  readonly type: 'ApprovalRequested';
  readonly concerns?: 'relay' | 'requests';
  readonly data: RequestFacts;
};
type NotificationSent = {
  readonly type: 'NotificationSent';
  readonly concerns?: never;
  readonly data: { readonly channel: string; readonly channel_id?: string };
};
type NotificationFailed = {
  readonly type: 'NotificationFailed';
  readonly concerns?: never;
  readonly data: { readonly channel: string; readonly channel_id?: string; readonly cause: string };
};
type BindingCodeRefused = {
  readonly type: 'BindingCodeRefused';
  readonly concerns?: 'relay';
  readonly data: { readonly by: string };
};
export type DecisionRefused = {
  readonly type: 'DecisionRefused';
  readonly concerns?: 'relay';
  readonly data: { readonly cause: 'agent_token' };
};
/** One of several approvals that a request needs. */
type ApprovalGiven = {
  readonly type: 'ApprovalGiven';
  readonly concerns?: 'relay' | 'requests';
  readonly data: {
    readonly responded_by: string;
    readonly responded_at: string;
    readonly auth_time?: number;
    /** All approvers who count after this approval. Approvers who have lost the right are left out. */
    readonly responders: readonly string[];
    readonly needed: number;
  };
};
/** Recorded some time after the escalation, which only the clock decides. It names who has to be notified. */
export type ApprovalEscalated = {
  readonly type: 'ApprovalEscalated';
  readonly concerns?: 'relay' | 'requests';
  readonly data: {
    readonly to: string;
    readonly escalated_at: string;
    readonly channels: readonly string[];
    readonly severity: Severity;
  };
};
type ApprovalApproved = {
  readonly type: 'ApprovalApproved';
  readonly concerns?: 'relay' | 'requests';
  readonly data: {
    readonly responded_by: string;
    readonly responded_at: string;
    readonly user_vouched?: boolean;
    /** Unix seconds of the approver's last strong sign-in. */
    readonly auth_time?: number;
    /** Everyone whose approval counts. Only present if several may decide. */
    readonly responders?: readonly string[];
    /** The approver's comment, encrypted like the reason. */
    readonly comment?: Sealed;
  };
};
type ApprovalDenied = {
  readonly type: 'ApprovalDenied';
  readonly data: {
    readonly responded_by: string;
    readonly responded_at: string;
    readonly user_vouched?: boolean;
    readonly cause: 'user' | 'binding_code';
    readonly reason?: Sealed;
  };
};
export type ApprovalExpired = {
  readonly type: 'ApprovalExpired';
  readonly concerns?: 'relay' | 'requests';
  readonly data: { readonly cause: ExpiryCause; readonly expired_at: string };
};
type ApprovalConsumed = {
  readonly type: 'ApprovalConsumed';
  readonly concerns?: 'relay' | 'requests';
  readonly data: {
    /** Null if the approval was used for an action instead of a vend. */
    readonly grant_id: string | null;
    /** The id of the use of an action, by which a repeated command is recognized. */
    readonly use_id?: string;
    readonly digest: string;
    readonly consumed_at: string;
  };
};
export type RequestEvent =
  | ApprovalRequested
  | NotificationSent
  | NotificationFailed
  | BindingCodeRefused
  | DecisionRefused
  | ApprovalGiven
  | ApprovalEscalated
  | ApprovalApproved
  | ApprovalDenied
  | ApprovalExpired
  | ApprovalConsumed;

type Asked = {
  readonly facts: RequestFacts;
  readonly wrongCodes: number;
  readonly refusedDecisions: number;
  /** The approvers so far. Present if several have to approve. */
  readonly given?: readonly string[];
  /** The number of approvals so far, including those of approvers who no longer count. */
  readonly timesGiven?: number;
  /** The escalation is recorded. */
  readonly escalated?: true;
};
type Answered = {
  readonly respondedBy: string;
  readonly respondedAt: string;
  /** Undefined in older responses. */
  readonly userVouched: boolean | undefined;
  /** Everyone whose approval counts. Only present if several may decide. */
  readonly responders?: readonly string[];
  /** The comment of an approval, or the reason of a denial. */
  readonly words?: Sealed;
};
export type Pending = Asked & { readonly status: 'pending' };
export type Approved = Asked &
  Answered & {
    readonly status: 'approved';
    /** The grant or the use that consumed the approval, and when. */
    readonly consumed: {
      readonly grantId: string | null;
      readonly useId?: string;
      readonly at: string;
    } | null;
  };
type Denied = Asked & Answered & { readonly status: 'denied' };
type Expired = Asked & { readonly status: 'expired'; readonly expiredAt: string };
export type ExistingRequest = Pending | Approved | Denied | Expired;
export type ApprovalRequest = { readonly status: 'none' } | ExistingRequest;

export const requests: Stream<ApprovalRequest, RequestEvent> = {
  noun: 'request',
  initial: { status: 'none' },
  evolve: (request, event) => {
    if (event.type === 'ApprovalRequested') {
      return { status: 'pending', facts: event.data, wrongCodes: 0, refusedDecisions: 0 };
    }
    if (request.status === 'none') throw new Error('an event of a request that nobody made');
    return after(request, event);
  },
};

function after(
  request: ExistingRequest,
  event: Exclude<RequestEvent, ApprovalRequested>,
): ExistingRequest {
  const { facts, wrongCodes, refusedDecisions } = request;
  const asked: Asked = { facts, wrongCodes, refusedDecisions };
  switch (event.type) {
    case 'NotificationSent':
    case 'NotificationFailed':
      return request;
    case 'BindingCodeRefused':
      return { ...request, wrongCodes: wrongCodes + 1 };
    case 'DecisionRefused':
      return { ...request, refusedDecisions: refusedDecisions + 1 };
    case 'ApprovalGiven': {
      const { responders: given } = event.data;
      return { ...request, given, timesGiven: timesGiven(request) + 1 };
    }
    case 'ApprovalEscalated':
      return { ...request, escalated: true };
    case 'ApprovalApproved':
      return { ...asked, ...answeredBy(event.data), status: 'approved', consumed: null };
    case 'ApprovalDenied':
      return { ...asked, ...answeredBy(event.data), status: 'denied' };
    case 'ApprovalExpired':
      return { ...asked, status: 'expired', expiredAt: event.data.expired_at };
    case 'ApprovalConsumed': {
      if (request.status !== 'approved') throw new Error('a request was used that is not approved');
      const { grant_id: grantId, use_id: useId, consumed_at: at } = event.data;
      const use = useId === undefined ? {} : { useId };
      return { ...request, consumed: { grantId, ...use, at } };
    }
  }
}

type AnswerData = ApprovalDenied['data'] | ApprovalApproved['data'];

function answeredBy(data: AnswerData): Answered {
  const words = 'cause' in data ? data.reason : data.comment;
  const responders = 'cause' in data ? undefined : data.responders;
  return {
    respondedBy: data.responded_by,
    respondedAt: data.responded_at,
    userVouched: data.user_vouched,
    ...(words === undefined ? {} : { words }),
    ...(responders === undefined ? {} : { responders }),
  };
}

/** The approvers of a pending request so far. */
export const givenBy = ({ given }: ExistingRequest): readonly string[] => given ?? [];
export const timesGiven = ({ timesGiven: times }: ExistingRequest): number => times ?? 0;
export const approvalsNeeded = ({ needed }: Pick<RequestFacts, 'needed'>): number => needed ?? 1;

/**
 * Whether the request is still pending but past its expiry. Readers treat it as expired, even if that is not recorded
 * yet.
 */
export const isOverdue = (request: ApprovalRequest, now: Date): boolean =>
  request.status === 'pending' && now.getTime() >= Date.parse(request.facts.expires_at);

export const expired = (cause: ExpiryCause, now: Date): ApprovalExpired => ({
  type: 'ApprovalExpired',
  data: { cause, expired_at: now.toISOString() },
});

/** The time until which a vend or an action may consume the approval. Null if nothing can. */
export function useBefore(request: ExistingRequest): Date | null {
  const { binding, action_binding } = request.facts;
  const window = (binding ?? action_binding)?.use_window_seconds;
  if (request.status !== 'approved' || window === undefined) return null;
  return new Date(Date.parse(request.respondedAt) + window * 1000);
}

/** Whether the request is approved for a vend or an action that has not consumed it yet and still may. */
export const isUsable = (request: ApprovalRequest, now: Date): boolean =>
  request.status === 'approved' &&
  request.consumed === null &&
  now.getTime() < (useBefore(request)?.getTime() ?? 0);

/**
 * The maximum age of the approver's sign-in in seconds. Undefined means any age. Access changes a setting of the
 * tenant, so its maximum is fixed.
 */
export const maxAuthAgeSeconds = ({
  access,
  binding,
}: Pick<RequestFacts, 'access' | 'binding'>): number | undefined =>
  access === undefined ? binding?.max_auth_age_seconds : AUTH_AGE_SECONDS_MAX;

/** `user:<id>` within its tenant: the subject whose key encrypts the texts of a request. */
export const subjectOf = (tenantId: string, userId: string): string => `user:${tenantId}:${userId}`;
/** The texts of a request to a set belong to no single person, so each request has its own key. */
export const setSubjectOf = (tenantId: string, id: string): string => `request:${tenantId}:${id}`;
export const streamOf = (id: string): string => `${requests.noun}-${id}`;

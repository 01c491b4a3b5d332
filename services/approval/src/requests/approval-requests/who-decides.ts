/** The rules about who may decide a request, given a person's relation to its approvers. */
import { type Escalation, type NamedApprover, printApprover } from '@cardea/contracts';
import { refuse } from '@cardea/event-store';
import {
  type ApprovalRequest,
  approvalsNeeded,
  type ExistingRequest,
  expired,
  isOverdue,
  type RequestFacts,
} from './request.ts';

/** The time from which a second approver may decide too, and who that is. Undefined if there is none. */
export function escalationOf({
  escalate,
  created_at,
  expires_at,
}: Pick<RequestFacts, 'escalate' | 'created_at' | 'expires_at'>):
  | { readonly at: Date; readonly to: string; readonly approver: Escalation['approver'] }
  | undefined {
  if (escalate === undefined) return undefined;
  const at = new Date(Date.parse(created_at) + escalate.after_seconds * 1000);
  if (at.getTime() >= Date.parse(expires_at)) return undefined;
  return { at, to: printApprover(escalate.approver), approver: escalate.approver };
}

/**
 * Whether the request is escalated by the clock, even if that is not recorded yet. For a request that is over, whether
 * it was escalated before its end.
 */
export function isEscalated(request: ExistingRequest, now: Date): boolean {
  const escalation = escalationOf(request.facts);
  return escalation !== undefined && escalation.at <= (endOf(request) ?? now);
}

/** The second approver. Undefined before the request is escalated. */
export const secondApprover = (request: ExistingRequest, now: Date): NamedApprover | undefined =>
  isEscalated(request, now) ? escalationOf(request.facts)?.approver : undefined;

function endOf(request: ExistingRequest): Date | undefined {
  switch (request.status) {
    case 'pending':
      return undefined;
    case 'approved':
    case 'denied':
      return new Date(request.respondedAt);
    case 'expired':
      return new Date(request.expiredAt);
  }
}

/**
 * The person or set to whom the request was originally sent. Their requests, denials and mutes are counted together.
 */
export const addresseeId = ({
  user_id,
  deputy_for,
}: Pick<RequestFacts, 'user_id' | 'deputy_for'>): string => deputy_for ?? user_id;

/** A deputy always needs a vouch. The person whom the request names first needs one only if the policy requires it. */
export const isVouchRequired = ({ binding, deputy_for }: RequestFacts): boolean =>
  binding?.vouch_required === true || deputy_for !== undefined;

/**
 * Whether more than one person may decide. The approvers are then recorded, and looked up again when the approval is
 * used.
 */
export const severalMayDecide = ({ approver, escalate }: RequestFacts): boolean =>
  approver !== undefined || escalate !== undefined;

/**
 * Why the approvals of a request that several may decide do not suffice for its use now. `stillHolding` is the number
 * of approvers who still may approve; undefined if nobody was looked up.
 */
export function lackOfApprovers(
  facts: RequestFacts,
  stillHolding: number | undefined,
): 'look_again' | 'no_approver' | undefined {
  if (!severalMayDecide(facts)) return undefined;
  if (stillHolding === undefined) return 'look_again';
  return stillHolding < approvalsNeeded(facts) ? 'no_approver' : undefined;
}

/** The person who decides, and their relation to the approvers, according to a recent lookup. */
export type Decider = {
  readonly userId: string;
  /** Whether the person belongs to the set that the request names. */
  readonly holdsSet: boolean;
  /** Whether the person is the second approver, or belongs to that set. */
  readonly holdsSecond?: boolean;
};

export function mayAnswer(decider: Decider, request: ExistingRequest, now: Date): boolean {
  const { facts } = request;
  const isFirst =
    facts.approver === undefined ? facts.user_id === decider.userId : decider.holdsSet;
  return isFirst || (decider.holdsSecond === true && isEscalated(request, now));
}

/** The request if this user may decide it now; else the reason of the refusal. */
export function toDecide(decider: Decider, now: Date, request: ApprovalRequest) {
  if (request.status !== 'none' && !mayAnswer(decider, request, now)) {
    return { barred: refuse('request_not_found') } as const;
  }
  switch (request.status) {
    case 'none':
      return { barred: refuse('request_not_found') } as const;
    case 'approved':
    case 'denied':
      return { barred: refuse('request_not_pending') } as const;
    case 'expired':
      return { barred: refuse('request_expired') } as const;
    case 'pending':
      return isOverdue(request, now)
        ? ({ barred: refuse('request_expired', expired('time', now)) } as const)
        : ({ pending: request } as const);
  }
}

/** Why one of the approvers may not decide. Undefined if they may. */
export function barredFrom(
  facts: RequestFacts,
  { userId, userVouched }: { readonly userId: string; readonly userVouched: boolean },
): 'approver_not_vouched' | 'approver_excluded' | undefined {
  // The person whom the request names needs no vouch, unless its policy requires one.
  if (facts.approver === undefined && facts.user_id === userId) return undefined;
  if (!userVouched) return 'approver_not_vouched';
  const isExcluded = facts.exclude_session_user === true && facts.session_user_id === userId;
  return isExcluded ? 'approver_excluded' : undefined;
}

import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  type ApprovalRequest,
  type Approved,
  expired,
  isOverdue,
  isVouchRequired,
  lackOfApprovers,
  type RequestEvent,
  useBefore,
} from '../../requests/requests.module.ts';

export type Consume = {
  readonly agentId: string;
  readonly digest: string;
  readonly grantId: string;
  readonly now: Date;
  readonly userIsActive: boolean;
  readonly userIsVouched: boolean;
  /** The number of approvers who still may approve. Undefined if nobody was looked up. */
  readonly stillHolding?: number | undefined;
};
export type ConsumeRefusal =
  | 'not_found'
  | 'mismatch'
  | 'pending'
  | 'denied'
  | 'expired'
  | 'consumed_by_other'
  | 'user_inactive'
  | 'user_not_vouched'
  | 'no_approver'
  /** One of several approvers approved after the caller had read the request, so no approver was looked up. */
  | 'look_again';

/** One approval allows one grant. Consuming it again for the same grant is a repeat and not a second use. */
export function consume(
  of: Consume,
  request: ApprovalRequest,
): Decision<RequestEvent, ConsumeRefusal> {
  if (request.status !== 'none') {
    if (request.facts.agent_id !== of.agentId) return refuse('not_found');
    if (request.facts.binding?.digest !== of.digest) return refuse('mismatch');
  }
  switch (request.status) {
    case 'none':
      return refuse('not_found');
    case 'pending':
      return isOverdue(request, of.now)
        ? refuse('expired', expired('time', of.now))
        : refuse('pending');
    case 'denied':
      return refuse('denied');
    case 'expired':
      return refuse('expired');
    case 'approved':
      return use(of, request);
  }
}

function use(
  { grantId, digest, now, userIsActive, userIsVouched, stillHolding }: Consume,
  request: Approved,
): Decision<RequestEvent, ConsumeRefusal> {
  if (request.consumed !== null) {
    return request.consumed.grantId === grantId ? accept() : refuse('consumed_by_other');
  }
  if (now.getTime() >= (useBefore(request)?.getTime() ?? 0)) return refuse('expired');
  const lack = lackOfApprovers(request.facts, stillHolding);
  if (lack !== undefined) return refuse(lack);
  if (!userIsActive) return refuse('user_inactive');
  if (isVouchRequired(request.facts) && !userIsVouched) {
    return refuse('user_not_vouched');
  }
  const data = { grant_id: grantId, digest, consumed_at: now.toISOString() };
  return accept({ type: 'ApprovalConsumed', data });
}

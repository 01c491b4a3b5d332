import { accept, type Decision, refuse } from '@cardea/event-store';
import { type ActionSent, isSameAction } from '../../actions/action-binding.ts';
import {
  type ApprovalRequest,
  type Approved,
  expired,
  isOverdue,
  type RequestEvent,
  useBefore,
} from '../request.ts';
import { lackOfApprovers } from '../who-decides.ts';

export type ConsumeAction = {
  readonly agentId: string;
  readonly sent: ActionSent;
  /** The id of the use. A repeated command has the same one. */
  readonly useId: string;
  readonly now: Date;
  readonly userIsActive: boolean;
  /** The number of approvers who still may approve. Undefined if nobody was looked up. */
  readonly stillHolding?: number | undefined;
};
export type ConsumeActionRefusal =
  | 'request_not_found'
  | 'not_an_action'
  | 'request_pending'
  | 'request_denied'
  | 'request_expired'
  | 'action_mismatch'
  | 'already_consumed'
  | 'no_approver'
  /** One of several approvers approved after the caller had read the request, so no approver was looked up. */
  | 'look_again';

/** One approval allows one action, and only the action that the person was asked to approve. */
export function consumeAction(
  of: ConsumeAction,
  request: ApprovalRequest,
): Decision<RequestEvent, ConsumeActionRefusal> {
  if (request.status !== 'none') {
    if (request.facts.agent_id !== of.agentId) return refuse('request_not_found');
    if (request.facts.action_binding === undefined) return refuse('not_an_action');
  }
  switch (request.status) {
    case 'none':
      return refuse('request_not_found');
    case 'pending':
      return isOverdue(request, of.now)
        ? refuse('request_expired', expired('time', of.now))
        : refuse('request_pending');
    case 'denied':
      return refuse('request_denied');
    case 'expired':
      return refuse('request_expired');
    case 'approved':
      return use(of, request);
  }
}

function use(of: ConsumeAction, request: Approved): Decision<RequestEvent, ConsumeActionRefusal> {
  const { sent, useId, now, userIsActive, stillHolding } = of;
  const { facts, consumed } = request;
  const { action_binding: bound } = facts;
  if (bound === undefined) return refuse('not_an_action');
  const isSame = isSameAction(facts, bound, sent);
  // The command is a repeat, because the response to the first one was lost.
  if (isSame && consumed?.useId === useId) return accept();
  if (now.getTime() >= (useBefore(request)?.getTime() ?? 0)) return refuse('request_expired');
  if (!isSame) return refuse('action_mismatch');
  if (consumed !== null) return refuse('already_consumed');
  const lack = lackOfApprovers(facts, stillHolding);
  if (lack !== undefined) return refuse(lack);
  if (!userIsActive) return refuse('no_approver');
  const consumed_at = now.toISOString();
  const data = { grant_id: null, use_id: useId, digest: bound.digest, consumed_at };
  return accept({ type: 'ApprovalConsumed', data });
}

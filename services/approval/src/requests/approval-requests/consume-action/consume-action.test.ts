import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { action_binding, details, facts, wanted } from '../../../../test/action-samples.ts';
import { at } from '../../../../test/decision-samples.ts';
import { actionBindingOf } from '../../actions/action-binding.ts';
import { type RequestEvent, type RequestFacts, requests } from '../request.ts';
import { type ConsumeAction, consumeAction } from './consume-action.ts';

const asked = (more: Partial<RequestFacts> = {}): RequestEvent => ({
  type: 'ApprovalRequested',
  data: { ...facts, action_binding, ...more },
});
const answeredAt = (
  type: 'ApprovalApproved' | 'ApprovalDenied',
  responders?: readonly string[],
): RequestEvent => {
  const data = { responded_by: 'ann', responded_at: at(10).toISOString(), user_vouched: true };
  if (type === 'ApprovalDenied') return { type, data: { ...data, cause: 'user' } };
  return { type, data: { ...data, ...(responders === undefined ? {} : { responders }) } };
};
const use = (seconds: number, more: Partial<ConsumeAction> = {}): ConsumeAction => ({
  agentId: 'bot',
  sent: { details },
  useId: 'u1',
  now: at(seconds),
  userIsActive: true,
  ...more,
});
const used = (seconds: number, use_id = 'u1'): RequestEvent => ({
  type: 'ApprovalConsumed',
  data: {
    grant_id: null,
    use_id,
    digest: action_binding.digest,
    consumed_at: at(seconds).toISOString(),
  },
});
const other = { sent: { details: { ...details, cents: 1 } } };

describe('the use of an approved action', () => {
  it('approval 30 is refused in one order, whatever else is wrong', () => {
    const stranger = use(500, { ...other, agentId: 'bot2', userIsActive: false });
    given(requests)
      .when((r) => consumeAction(use(1), r))
      .refuses('request_not_found');
    given(requests, asked())
      .when((r) => consumeAction(stranger, r))
      .refuses('request_not_found');
    given(requests, { type: 'ApprovalRequested', data: facts })
      .when((r) => consumeAction(use(500, other), r))
      .refuses('not_an_action');
    given(requests, asked())
      .when((r) => consumeAction(use(1, other), r))
      .refuses('request_pending');
    given(requests, asked(), answeredAt('ApprovalDenied'))
      .when((r) => consumeAction(use(500, other), r))
      .refuses('request_denied');
    given(requests, asked())
      .when((r) => consumeAction(use(300, other), r))
      .refuses('request_expired', {
        type: 'ApprovalExpired',
        data: { cause: 'time', expired_at: at(300).toISOString() },
      });
    const approved = given(requests, asked(), answeredAt('ApprovalApproved'));
    approved.when((r) => consumeAction(use(70, other), r)).refuses('request_expired');
    const late = use(69, { ...other, userIsActive: false });
    approved.when((r) => consumeAction(late, r)).refuses('action_mismatch');
    const gone = use(69, { userIsActive: false });
    approved.when((r) => consumeAction(gone, r)).refuses('no_approver');
    approved.when((r) => consumeAction(use(69), r)).accepts(used(69));
  });

  it('approval 30 comes once; the same command again is the same use, also when its time is over', () => {
    const consumed = given(requests, asked(), answeredAt('ApprovalApproved'), used(20));
    consumed.when((r) => consumeAction(use(21, { useId: 'u2' }), r)).refuses('already_consumed');
    consumed.when((r) => consumeAction(use(21), r)).accepts();
    consumed.when((r) => consumeAction(use(500, { userIsActive: false }), r)).accepts();
    consumed.when((r) => consumeAction(use(21, other), r)).refuses('action_mismatch');
  });

  it('approval 30 of a set needs as many as had to, looked up', () => {
    const set = { approver: { role: 'admin' }, needed: 2, user_id: 'role:admin' };
    const bound = actionBindingOf({ ...facts, ...set }, wanted);
    const approved = given(
      requests,
      asked({ ...set, action_binding: bound }),
      answeredAt('ApprovalApproved', ['ann', 'bob']),
    );
    approved.when((r) => consumeAction(use(20), r)).refuses('look_again');
    approved.when((r) => consumeAction(use(20, { stillHolding: 1 }), r)).refuses('no_approver');
    const { decision } = approved.when((r) => consumeAction(use(20, { stillHolding: 2 }), r));
    expect(decision.accepted).toBe(true);
  });
});

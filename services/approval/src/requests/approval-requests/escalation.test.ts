import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  approvedAt,
  at,
  by,
  deniedAt,
  ESCALATE,
  expiredAt,
  holder,
  no,
  toPerson,
  toSet,
} from '../../../test/decision-samples.ts';
import { type Approve, approve } from './approve/approve.ts';
import { deny } from './deny/deny.ts';
import { escalate } from './expire/escalate.ts';
import { type RequestEvent, requests } from './request.ts';

describe('an escalation', () => {
  const SECOND = { holdsSet: false, holdsSecond: true };
  const second = (seconds: number, more: Partial<Approve> = {}) =>
    by(seconds, { userId: 'eve', ...SECOND, ...more });

  it('approval 27 lets the second addressee decide from its time on, not a millisecond before, and the first still may', () => {
    for (const first of [toSet(1, { escalate: ESCALATE }), toPerson(ESCALATE)]) {
      const asking = given(requests, first);
      asking.when((r) => approve(second(59.999), r)).refuses('request_not_found');
      const early = { ...no(59.999), userId: 'eve', ...SECOND };
      asking.when((r) => deny(early, r)).refuses('request_not_found');
      expect(asking.when((r) => approve(second(60), r)).decision.events).toMatchObject([
        { type: 'ApprovalApproved', data: { responded_by: 'eve', responders: ['eve'] } },
      ]);
      const firstOne = first.type === 'ApprovalRequested' && first.data.approver ? 'bob' : 'ann';
      const still = asking.when((r) => approve(holder(firstOne, 299.999), r)).decision;
      expect(still.events).toMatchObject([{ data: { responders: [firstOne] } }]);
      asking.when((r) => approve(second(300), r)).refuses('request_expired', expiredAt(300));
    }
  });

  it('approval 27 does not make a decision of before the second addressee’s to read', () => {
    const decided = given(requests, toPerson(ESCALATE), approvedAt(59.999));
    decided.when((r) => approve(second(100), r)).refuses('request_not_found');
    const later = given(requests, toPerson(ESCALATE), approvedAt(60));
    later.when((r) => approve(second(100), r)).refuses('request_not_pending');
  });

  it('lets only vouched and not excluded ones decide, and never comes after the expiry', () => {
    const excludes = { exclude_session_user: true, session_user_id: 'eve' };
    const asking = given(requests, toPerson(ESCALATE, excludes));
    asking.when((r) => approve(second(60), r)).refuses('approver_excluded');
    const stranger = second(60, { userId: 'dan', userVouched: false });
    asking.when((r) => approve(stranger, r)).refuses('approver_not_vouched');
    const late = given(requests, toPerson({ ...ESCALATE, after_seconds: 300 }));
    late.when((r) => approve(second(299.999), r)).refuses('request_not_found');
    late.when((r) => escalate(at(299.999), r)).accepts();
  });

  it('is recorded once, while the request waits', () => {
    const recorded: RequestEvent = {
      type: 'ApprovalEscalated',
      data: {
        to: 'role:owner',
        escalated_at: at(61).toISOString(),
        channels: [],
        severity: 'medium',
      },
    };
    const asking = given(requests, toPerson(ESCALATE));
    asking.when((r) => escalate(at(59.999), r)).accepts();
    asking.when((r) => escalate(at(61), r)).accepts(recorded);
    asking.when((r) => escalate(at(300), r)).accepts();
    given(requests, toPerson(ESCALATE), recorded)
      .when((r) => escalate(at(62), r))
      .accepts();
    given(requests, toPerson(ESCALATE), deniedAt(50))
      .when((r) => escalate(at(61), r))
      .accepts();
  });
});

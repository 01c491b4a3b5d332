import { given, seededRandom } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  approvedAt,
  at,
  by,
  deniedAt,
  ESCALATE,
  expiredAt,
  facts,
  given1,
  holder,
  no,
  START,
  toSet,
  use,
  vendRequested,
} from '../../../test/decision-samples.ts';
import { consume } from '../../approval-rpc/consume/consume.ts';
import { type Approve, approve } from './approve/approve.ts';
import { deny } from './deny/deny.ts';
import { escalate } from './expire/escalate.ts';
import { expire } from './expire/expire.ts';
import { type RequestEvent, requests } from './request.ts';

describe('a decision', () => {
  it('counts until the moment of expiry, and from then on the request is expired for ever', () => {
    given(requests, vendRequested())
      .when((request) => approve(by(299.999), request))
      .accepts(approvedAt(299.999));
    given(requests, vendRequested())
      .when((request) => approve(by(300), request))
      .refuses('request_expired', expiredAt(300));
    given(requests, vendRequested(), expiredAt(300))
      .when((request) => approve(by(1), request))
      .refuses('request_expired');
    given(requests, vendRequested())
      .when((request) => deny(no(300), request))
      .refuses('request_expired', expiredAt(300));
  });

  it('is made by the user of the request and by nobody else', () => {
    given(requests, vendRequested())
      .when((request) => approve(by(1, { userId: 'bob' }), request))
      .refuses('request_not_found');
    given(requests)
      .when((request) => deny(no(1), request))
      .refuses('request_not_found');
  });

  it('is final', () => {
    given(requests, vendRequested(), approvedAt(1))
      .when((request) => deny(no(2), request))
      .refuses('request_not_pending');
    given(requests, vendRequested(), deniedAt(1))
      .when((request) => approve(by(2), request))
      .refuses('request_not_pending');
    given(requests, vendRequested(), approvedAt(1))
      .when((request) => expire('agent', at(400), request))
      .accepts();
  });

  it('S12 needs a person for whom the tenant vouches, where the policy asks for one', () => {
    const stranger = { userVouched: false, code: 'right', authTime: START / 1000 } as const;
    const strict = { vouch_required: true, max_auth_age_seconds: 60, number_match: true };
    given(requests, vendRequested(strict))
      .when((request) => approve(by(1, stranger), request))
      .refuses('approver_not_vouched');
    given(requests, vendRequested(strict), approvedAt(1))
      .when((request) => approve(by(2, stranger), request))
      .refuses('request_not_pending');
    given(requests, vendRequested(strict))
      .when((request) => approve(by(300, stranger), request))
      .refuses('request_expired', expiredAt(300));
    given(requests, vendRequested(strict))
      .when((request) => approve(by(1, { userVouched: false }), request))
      .refuses('approver_not_vouched');
    const free = given(requests, vendRequested()).when((request) =>
      approve(by(1, stranger), request),
    );
    expect(free.decision.events).toMatchObject([{ data: { user_vouched: false } }]);
  });

  it('needs a sign-in as fresh as the policy asks for', () => {
    const history = [vendRequested({ max_auth_age_seconds: 60 })];
    const signedIn = (seconds: number) => by(100, { authTime: START / 1000 + seconds });
    for (const how of [by(100), signedIn(39)]) {
      given(requests, ...history)
        .when((request) => approve(how, request))
        .refuses('step_up_required');
    }
    const { decision } = given(requests, ...history).when((request) =>
      approve(signedIn(40), request),
    );
    expect(decision.accepted).toBe(true);
  });

  it('approval 17 needs the code where it is to be matched, and the third wrong one denies', () => {
    const matched = vendRequested({ number_match: true });
    const wrong: RequestEvent = { type: 'BindingCodeRefused', data: { by: 'ann' } };
    given(requests, matched)
      .when((request) => approve(by(1), request))
      .refuses('binding_code_required');
    given(requests, matched)
      .when((request) => approve(by(1, { code: 'right' }), request))
      .accepts(approvedAt(1));
    given(requests, matched, wrong)
      .when((request) => approve(by(1, { code: 'wrong' }), request))
      .refuses('binding_code_mismatch', wrong);
    given(requests, matched, wrong, wrong)
      .when((request) => approve(by(1, { code: 'wrong' }), request))
      .refuses('binding_code_mismatch', wrong, deniedAt(1, 'binding_code'));
  });
});

describe('an approval', () => {
  const used: RequestEvent = {
    type: 'ApprovalConsumed',
    data: { grant_id: 'g1', digest: 'd1', consumed_at: at(69.999).toISOString() },
  };

  it('approval 13 is used once, by its own agent and digest, before its window closes', () => {
    const approved = given(requests, vendRequested(), approvedAt(10));
    approved.when((request) => consume(use(69.999), request)).accepts(used);
    approved.when((request) => consume(use(70), request)).refuses('expired');
    approved.when((request) => consume(use(20, { digest: 'd2' }), request)).refuses('mismatch');
    approved.when((request) => consume(use(20, { agentId: 'b' }), request)).refuses('not_found');
    approved
      .when((request) => consume(use(20, { userIsActive: false }), request))
      .refuses('user_inactive');
    const strange = use(20, { userIsVouched: false });
    approved
      .when((request) => consume(strange, request))
      .accepts({
        ...used,
        data: { ...used.data, consumed_at: at(20).toISOString() },
      } as RequestEvent);
    given(requests, vendRequested({ vouch_required: true }), approvedAt(10))
      .when((request) => consume(strange, request))
      .refuses('user_not_vouched');
    const consumed = given(requests, vendRequested(), approvedAt(10), used);
    consumed.when((request) => consume(use(500), request)).accepts();
    consumed
      .when((request) => consume(use(20, { grantId: 'g2' }), request))
      .refuses('consumed_by_other');
  });

  it('is nothing that a request made over REST could give', () => {
    const rest: RequestEvent = { type: 'ApprovalRequested', data: facts };
    given(requests, rest, approvedAt(10))
      .when((request) => consume(use(20), request))
      .refuses('mismatch');
  });
});

describe('a decision of a set', () => {
  it('approval 25 is made by whoever holds it, is vouched for and not excluded', () => {
    const excludes = { exclude_session_user: true, session_user_id: 'ann' };
    const asking = given(requests, toSet(1, excludes));
    asking.when((r) => approve(by(1), r)).refuses('request_not_found');
    asking.when((r) => deny(no(1), r)).refuses('request_not_found');
    const stranger = holder('bob', 1, { userVouched: false });
    asking.when((r) => approve(stranger, r)).refuses('approver_not_vouched');
    asking.when((r) => approve(holder('ann', 1), r)).refuses('approver_excluded');
    const { decision } = asking.when((r) => approve(holder('bob', 1), r));
    expect(decision.events).toMatchObject([
      { type: 'ApprovalApproved', data: { responded_by: 'bob', responders: ['bob'] } },
    ]);
  });

  it('approval 31 gives an agent access by an administrator with a sign-in of ten minutes alone', () => {
    const services = [{ service_name: 'payroll', fields: ['token'] }];
    const access = { services, duration_seconds: 3_600 };
    const asking = given(requests, {
      type: 'ApprovalRequested',
      data: { ...facts, user_id: 'role:member', approver: { role: 'member' }, access },
    });
    const boss = (age: number | null, more: Partial<Approve> = {}) =>
      holder('bob', 1, {
        isAdmin: true,
        authTime: age === null ? null : at(1).getTime() / 1000 - age,
        ...more,
      });
    asking.when((r) => approve(boss(0, { isAdmin: false }), r)).refuses('approver_not_admin');
    asking.when((r) => approve(boss(0, { holdsSet: false }), r)).refuses('request_not_found');
    for (const age of [601, null]) {
      asking.when((r) => approve(boss(age), r)).refuses('step_up_required');
    }
    expect(asking.when((r) => approve(boss(600), r)).decision.events).toHaveLength(1);
  });

  it('approval 26 counts who was looked up, and only those who still hold it', () => {
    const one = given(requests, toSet(2), given1('ann', ['ann']));
    one.when((r) => approve(holder('ann', 2), r)).refuses('already_given');
    one.when((r) => approve(holder('bob', 2), r)).refuses('look_again');
    const lost = holder('bob', 1, { earlier: new Map([['ann', false]]) });
    one.when((r) => approve(lost, r)).accepts(given1('bob', ['bob']));
    const both = holder('bob', 1, { earlier: new Map([['ann', true]]) });
    expect(one.when((r) => approve(both, r)).decision.events).toMatchObject([
      { type: 'ApprovalApproved', data: { responders: ['ann', 'bob'] } },
    ]);
  });

  it('approval 26 ends after twenty approvals that did not last', () => {
    const history = Array.from({ length: 20 }, (_, count) => given1(`u${count}`, [`u${count}`]));
    const lost = holder('bob', 2, { earlier: new Map([['u19', false]]) });
    given(requests, toSet(2), ...history)
      .when((r) => approve(lost, r))
      .refuses('too_many_attempts');
  });

  it('approval 25 is used only while as many as have to still hold it', () => {
    const { decision } = given(requests, toSet(1)).when((r) => approve(holder('bob', 10), r));
    const approved = given(requests, toSet(1), ...decision.events);
    approved.when((r) => consume(use(20), r)).refuses('look_again');
    approved.when((r) => consume(use(20, { stillHolding: 0 }), r)).refuses('no_approver');
    const used = approved.when((r) => consume(use(20, { stillHolding: 1 }), r)).decision;
    expect(used.accepted).toBe(true);
  });
});

describe('the history of a request', () => {
  it('approval 24 never leaves its final state, whatever comes in whichever order', () => {
    for (let round = 0; round < 200; round++) {
      const bytes = seededRandom(`history ${round}`).bytes(24);
      let request = requests.evolve(requests.initial, vendRequested());
      let clock = 0;
      let final: string | undefined;
      for (const byte of bytes) {
        clock += byte >> 2;
        const before = request;
        const decision = [
          () => approve(by(clock), before),
          () => deny(no(clock), before),
          () => expire('time', at(clock), before),
          () => consume(use(clock), before),
        ][byte % 4]?.();
        request = (decision?.events ?? []).reduce(requests.evolve, request);
        final ??= request.status === 'pending' ? undefined : request.status;
        expect(request.status, `history ${round}`).toBe(final ?? 'pending');
      }
    }
  });

  it('approval 26 needs as many as have to in any interleaving of yes, no, loss, escalation, expiry and use', () => {
    let escalated = 0;
    for (let round = 0; round < 300; round++) {
      const bytes = seededRandom(`several ${round}`).bytes(40);
      const needed = 1 + ((bytes[0] ?? 0) % 3);
      const people = ['ann', 'bob', 'cid', 'dan', 'eve'];
      const holders = new Set(['ann', 'bob', 'cid']);
      const seconds = new Set(['cid', 'dan', 'eve']);
      let request = requests.evolve(requests.initial, toSet(needed, { escalate: ESCALATE }));
      let clock = 0;
      const ends: string[] = [];
      for (const byte of bytes) {
        clock += byte >> 4;
        const before = request;
        const who = people[byte % people.length] ?? 'ann';
        const isLate = clock >= ESCALATE.after_seconds;
        const stands = (id: string) => holders.has(id) || (isLate && seconds.has(id));
        const earlier = new Map(people.map((id) => [id, stands(id)]));
        const decider = { userId: who, holdsSet: holders.has(who), holdsSecond: seconds.has(who) };
        const stillHolding = responders(before).filter(stands).length;
        const escalation = byte > 128 ? seconds : holders;
        const decision = [
          () => approve(by(clock, { ...decider, earlier }), before),
          () => approve(by(clock, { ...decider, earlier }), before),
          () => (byte > 230 ? deny({ ...no(clock), ...decider }, before) : undefined),
          () => void (escalation.delete(who) || escalation.add(who)),
          () => expire('time', at(clock), before),
          () => escalate(at(clock), before),
          () => consume(use(clock, { stillHolding }), before),
        ][(byte >> 2) % 7]?.();
        request = (decision?.events ?? []).reduce(requests.evolve, request);
        if (decision?.events.some(({ type }) => type === 'ApprovalApproved')) {
          const counted = responders(request);
          expect(new Set(counted).size, `several ${round}`).toBe(needed);
          expect(counted.every(stands), `several ${round}`).toBe(true);
        }
        if (decision?.events.some(({ type }) => type === 'ApprovalEscalated')) {
          expect([before.status, isLate, clock < 300]).toEqual(['pending', true, true]);
          escalated += 1;
        }
        if (decision?.events.some(({ type }) => type === 'ApprovalConsumed')) {
          expect(stillHolding).toBeGreaterThanOrEqual(needed);
        }
        if (request.status !== 'pending') ends.push(request.status);
      }
      expect(new Set(ends).size, `several ${round}`).toBeLessThanOrEqual(1);
    }
    expect(escalated).toBeGreaterThan(20);
  });
});

const responders = (request: ReturnType<typeof requests.evolve>): readonly string[] =>
  request.status === 'approved' ? (request.responders ?? []) : [];

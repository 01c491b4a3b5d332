import { given, seededRandom } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { consume } from '../../approval-rpc/consume/consume.ts';
import { type Approve, approve } from './approve/approve.ts';
import { type Deny, deny } from './deny/deny.ts';
import { expire } from './expire/expire.ts';
import { type Binding, type RequestEvent, type RequestFacts, requests } from './request.ts';

const START = Date.parse('2026-01-01T10:00:00.000Z');
const at = (seconds: number) => new Date(START + seconds * 1000);
const facts: RequestFacts = {
  id: 'r1',
  tenant_id: 't1',
  agent_id: 'bot',
  agent_name: 'Bot',
  user_id: 'ann',
  action: 'credential_access',
  severity: 'medium',
  ttl_seconds: 300,
  created_at: at(0).toISOString(),
  expires_at: at(300).toISOString(),
  origin: 'vend',
  channels: [],
};
const binding: Binding = {
  digest: 'd1',
  session_id: 's1',
  service_name: 'github',
  fields: ['token'],
  policies: [],
  use_window_seconds: 60,
  number_match: false,
  code: { subject: 'user:t1:ann', box: 'x' },
};
const asked = (more: Partial<Binding> = {}): RequestEvent => ({
  type: 'ApprovalRequested',
  data: { ...facts, binding: { ...binding, ...more } },
});
const approvedAt = (seconds: number): RequestEvent => ({
  type: 'ApprovalApproved',
  data: { responded_by: 'ann', responded_at: at(seconds).toISOString(), user_vouched: true },
});
const deniedAt = (seconds: number, cause: 'user' | 'binding_code' = 'user'): RequestEvent => ({
  type: 'ApprovalDenied',
  data: {
    responded_by: 'ann',
    responded_at: at(seconds).toISOString(),
    user_vouched: true,
    cause,
  },
});
const expiredAt = (seconds: number, cause: 'time' | 'agent' = 'time'): RequestEvent => ({
  type: 'ApprovalExpired',
  data: { cause, expired_at: at(seconds).toISOString() },
});
const by = (seconds: number, more: Partial<Approve> = {}): Approve => ({
  userId: 'ann',
  authTime: null,
  now: at(seconds),
  userVouched: true,
  code: 'none',
  ...more,
});
const no = (seconds: number): Deny => ({ userId: 'ann', userVouched: true, now: at(seconds) });
const use = (seconds: number, more: object = {}) => ({
  agentId: 'bot',
  digest: 'd1',
  grantId: 'g1',
  now: at(seconds),
  userIsActive: true,
  userIsVouched: true,
  ...more,
});

describe('a decision', () => {
  it('counts until the moment of expiry, and from then on the request is expired for ever', () => {
    given(requests, asked())
      .when((request) => approve(by(299.999), request))
      .accepts(approvedAt(299.999));
    given(requests, asked())
      .when((request) => approve(by(300), request))
      .refuses('request_expired', expiredAt(300));
    given(requests, asked(), expiredAt(300))
      .when((request) => approve(by(1), request))
      .refuses('request_expired');
    given(requests, asked())
      .when((request) => deny(no(300), request))
      .refuses('request_expired', expiredAt(300));
  });

  it('is made by the user of the request and by nobody else', () => {
    given(requests, asked())
      .when((request) => approve(by(1, { userId: 'bob' }), request))
      .refuses('request_not_found');
    given(requests)
      .when((request) => deny(no(1), request))
      .refuses('request_not_found');
  });

  it('is final', () => {
    given(requests, asked(), approvedAt(1))
      .when((request) => deny(no(2), request))
      .refuses('request_not_pending');
    given(requests, asked(), deniedAt(1))
      .when((request) => approve(by(2), request))
      .refuses('request_not_pending');
    given(requests, asked(), approvedAt(1))
      .when((request) => expire('agent', at(400), request))
      .accepts();
  });

  it('S12 needs a person for whom the tenant vouches, where the policy asks for one', () => {
    const stranger = { userVouched: false, code: 'right', authTime: START / 1000 } as const;
    const strict = { vouch_required: true, max_auth_age_seconds: 60, number_match: true };
    given(requests, asked(strict))
      .when((request) => approve(by(1, stranger), request))
      .refuses('approver_not_vouched');
    given(requests, asked(strict), approvedAt(1))
      .when((request) => approve(by(2, stranger), request))
      .refuses('request_not_pending');
    given(requests, asked(strict))
      .when((request) => approve(by(300, stranger), request))
      .refuses('request_expired', expiredAt(300));
    given(requests, asked(strict))
      .when((request) => approve(by(1, { userVouched: false }), request))
      .refuses('approver_not_vouched');
    const free = given(requests, asked()).when((request) => approve(by(1, stranger), request));
    expect(free.decision.events).toMatchObject([{ data: { user_vouched: false } }]);
  });

  it('needs a sign-in as fresh as the policy asks for', () => {
    const history = [asked({ max_auth_age_seconds: 60 })];
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
    const matched = asked({ number_match: true });
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
    const approved = given(requests, asked(), approvedAt(10));
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
    given(requests, asked({ vouch_required: true }), approvedAt(10))
      .when((request) => consume(strange, request))
      .refuses('user_not_vouched');
    const consumed = given(requests, asked(), approvedAt(10), used);
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

describe('the history of a request', () => {
  it('approval 24 never leaves its final state, whatever comes in whichever order', () => {
    for (let round = 0; round < 200; round++) {
      const bytes = seededRandom(`history ${round}`).bytes(24);
      let request = requests.evolve(requests.initial, asked());
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
});

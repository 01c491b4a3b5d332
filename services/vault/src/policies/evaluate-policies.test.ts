import { describe, expect, it } from 'vitest';
import { evaluatePolicies } from './evaluate-policies.ts';
import type { Policy } from './policy.ts';

const policy = (id: string, more: Partial<Policy> = {}): Policy => ({
  id,
  version: 1,
  name: id,
  service_name: 'db',
  fields: '*',
  agent_ids: '*',
  effect: 'require_approval',
  approver: 'session_user',
  approver_vouched: true,
  severity: 'medium',
  ttl_seconds: 300,
  use_window_seconds: 300,
  max_auth_age_seconds: null,
  number_match: false,
  enabled: true,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  request_hash: null,
  ...more,
});
const question = { agentId: 'agent', serviceName: 'db', fields: ['password', 'user'] };
const requirementOf = (...policies: readonly Policy[]) => {
  const verdict = evaluatePolicies(policies, question);
  return verdict.effect === 'require_approval' ? verdict.requirement : undefined;
};

describe('policies', () => {
  it.each([
    ['another service', { service_name: 'other' }],
    ['other agents', { agent_ids: ['someone'] }],
    ['other fields', { fields: ['token'] }],
    ['nobody, being disabled', { enabled: false }],
  ])('say nothing when they are for %s', (_whom, more) => {
    expect(evaluatePolicies([policy('p', more)], question)).toEqual({
      effect: 'allow',
      matched: [],
    });
  });

  it.each([
    ['any service', { service_name: '*' }],
    ['this agent', { agent_ids: ['someone', 'agent'] }],
    ['one of the fields', { fields: ['token', 'user'] }],
  ])('govern what is for %s', (_whom, more) => {
    expect(evaluatePolicies([policy('p', more)], question).effect).toBe('require_approval');
  });

  it('deny where one of them denies, and name all that govern in one order', () => {
    const policies = [policy('b', { version: 3 }), policy('a', { effect: 'deny' })];
    expect(evaluatePolicies(policies, question)).toEqual({
      effect: 'deny',
      matched: [
        { id: 'a', version: 1 },
        { id: 'b', version: 3 },
      ],
    });
  });

  it('ask for the strictest of all in each respect', () => {
    const strict = { severity: 'high', ttl_seconds: 60, number_match: true } as const;
    const other = { severity: 'low', use_window_seconds: 30, max_auth_age_seconds: 90 } as const;
    expect(requirementOf(policy('a', strict), policy('b', other))).toEqual({
      approver: 'session_user',
      approver_vouched: true,
      severity: 'high',
      ttl_seconds: 60,
      use_window_seconds: 30,
      max_auth_age_seconds: 90,
      number_match: true,
      approvals_needed: 1,
      exclude_session_user: false,
      escalate: null,
    });
    expect(requirementOf(policy('a', { severity: 'low' }))?.severity).toBe('low');
  });

  it('ask for a vouched approver unless every one of them does without', () => {
    const open = policy('a', { approver_vouched: false });
    expect(requirementOf(open, policy('b'))?.approver_vouched).toBe(true);
    expect(requirementOf(open)?.approver_vouched).toBe(false);
  });

  it('ask whom they name before the user of the session, and nobody where they disagree', () => {
    const bob = policy('b', { approver: { user_id: 'bob' } });
    const eve = policy('c', { approver: { user_id: 'eve' } });
    expect(requirementOf(policy('a'), bob)?.approver).toEqual({ user_id: 'bob' });
    expect(requirementOf(bob, bob)?.approver).toEqual({ user_id: 'bob' });
    expect(requirementOf(bob, eve)?.approver).toBe('nobody');
  });

  it('ask the owner of the agent before the user of the session, and after whom they name', () => {
    const owner = policy('o', { approver: 'agent_owner' });
    const bob = policy('b', { approver: { user_id: 'bob' } });
    expect(requirementOf(policy('a'), owner)?.approver).toBe('agent_owner');
    expect(requirementOf(owner, policy('z'))?.approver).toBe('agent_owner');
    expect(requirementOf(owner, bob)?.approver).toEqual({ user_id: 'bob' });
  });

  it('ask the one set that they name, as many as the strictest says', () => {
    const set = { relation: 'approver', object_type: 'team', object_id: 'payments' } as const;
    const two = policy('a', { approver: set, approvals_needed: 2 });
    const excludes = policy('b', { approver: { ...set }, exclude_session_user: true });
    expect(requirementOf(two, excludes, policy('c'))).toMatchObject({
      approver: set,
      approvals_needed: 2,
      exclude_session_user: true,
    });
    const role = policy('r', { approver: { role: 'admin' } });
    expect(requirementOf(two, role)?.approver).toBe('nobody');
    expect(requirementOf(role, policy('d', { approver: { user_id: 'admin' } }))?.approver).toBe(
      'nobody',
    );
  });

  it('escalate as the one that names the approver says, and as late as the last of several', () => {
    const bob = { approver: { user_id: 'bob' } };
    const escalates = (after_seconds: number, role = 'owner') => ({
      escalate: { after_seconds, approver: { role } },
    });
    const mine = policy('a', escalates(60));
    expect(requirementOf(mine)?.escalate).toEqual(escalates(60).escalate);
    expect(requirementOf(mine, policy('b', bob))?.escalate).toBeNull();
    const named = policy('b', { ...bob, ...escalates(120) });
    expect(requirementOf(mine, named)?.escalate).toEqual(escalates(120).escalate);
    const later = policy('c', { ...bob, ...escalates(90) });
    expect(requirementOf(later, named)?.escalate).toEqual(escalates(120).escalate);
    const none = policy('d', bob);
    expect(requirementOf(named, none)?.escalate).toBeNull();
    const elsewhere = policy('e', { ...bob, ...escalates(60, 'admin') });
    expect(requirementOf(named, elsewhere)?.escalate).toBeNull();
  });
});

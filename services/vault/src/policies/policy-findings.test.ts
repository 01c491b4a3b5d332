import { describe, expect, it } from 'vitest';
import type { Policy } from './policy.ts';
import { barredApprover } from './policy-findings.ts';

const tenant = { vouched: ['ann'], owners: { bot: 'ann', stray: null, other: 'eve' } };
const policy = (approver: Policy['approver'], more: Partial<Policy> = {}) => ({
  approver,
  approver_vouched: true,
  agent_ids: '*' as const,
  effect: 'require_approval' as const,
  enabled: true,
  ...more,
});

describe('a policy that nobody can answer', () => {
  it.each([
    ['names a person who is not vouched for', policy({ user_id: 'eve' }), 'eve'],
    [
      'asks the owners of agents of which none is vouched for',
      policy('agent_owner', { agent_ids: ['stray', 'other', 'unknown'] }),
      'agent_owner',
    ],
  ])('%s', (_which, one, approver) => {
    expect(barredApprover(one, tenant)).toBe(approver);
  });

  it('asks the user of the session in a tenant that vouches for nobody', () => {
    const nobody = { ...tenant, vouched: [] };
    expect(barredApprover(policy('session_user'), nobody)).toBe('session_user');
    expect(barredApprover(policy('session_user'), tenant)).toBeUndefined();
  });

  it('is none that somebody can answer, or that asks nobody', () => {
    const answered = [
      policy({ user_id: 'ann' }),
      policy({ role: 'admin' }),
      policy('agent_owner'),
      policy({ user_id: 'eve' }, { effect: 'deny' }),
      policy({ user_id: 'eve' }, { enabled: false }),
      policy({ user_id: 'eve' }, { approver_vouched: false }),
    ];
    expect(answered.map((one) => barredApprover(one, tenant))).toEqual(
      answered.map(() => undefined),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { type ExistingUser, NO_SECOND_FACTORS } from '../../../accounts/accounts.module.ts';
import { TENANT_DEFAULTS } from '../../../workspaces/workspaces.module.ts';
import { refusalOfPending, resumed } from './verify.ts';

const sealed = { subject: 'user:ann', box: 'box' };
const ann: ExistingUser = {
  ...{ status: 'active', id: 'ann', email: sealed, emailHash: 'hash', emailVerified: true },
  ...{ displayName: null, avatarUrl: null, roles: ['member'], vouched: false, tokensBefore: 0 },
  ...{
    passwordHash: null,
    passwordsBefore: [],
    passwordEpoch: 0,
    epoch: 3,
    keepSid: null,
    revokedEpoch: 0,
    reclaimedAt: null,
  },
  ...{ epochSince: '', createdAt: '', updatedAt: '', requestHash: null },
  secondFactors: { factors: [{ id: 'f1', type: 'totp' }], recoveryId: null },
  identities: [],
};
const claims = { via: 'login', first: 'password', due: 'one_of_them', epoch: 3 } as const;
const settings = TENANT_DEFAULTS;

describe('the token of a sign-in that waits', () => {
  it('stands for the attempt whose first factor was right', () => {
    const attempt = resumed(claims, { user: ann, settings });
    expect(attempt).toMatchObject({ user: ann, isMet: true, secondDue: 'one_of_them' });
  });

  it.each([
    { name: 'sessions were ended', user: { ...ann, epoch: 4 } },
    { name: 'the account was closed', user: { ...ann, status: 'disabled' as const } },
    { name: 'the account is gone', user: { status: 'none' as const } },
    { name: 'the factors were taken away', user: { ...ann, secondFactors: NO_SECOND_FACTORS } },
    { name: 'the tenant wants none', user: ann, policy: { mfa_policy: 'disabled' as const } },
    { name: 'the tenant no longer allows the first one', user: ann, policy: { auth_methods: [] } },
  ])('stands for nothing once $name', ({ user, policy }) => {
    expect(resumed(claims, { user, settings: { ...settings, ...policy } })).toBeUndefined();
  });

  it('enrols nothing once there is a factor', () => {
    const enrolling = { ...claims, due: 'enrolment' } as const;
    const required = { ...settings, mfa_policy: 'required' } as const;
    const bare = { ...ann, secondFactors: NO_SECOND_FACTORS };
    expect(resumed(enrolling, { user: bare, settings: required })).toBeDefined();
    expect(resumed(enrolling, { user: ann, settings: required })).toBeUndefined();
  });

  it('says how long it is worth nothing after too many codes', () => {
    const headers = { 'Retry-After': '300' };
    expect(refusalOfPending('too_many_attempts')).toEqual({
      refused: 'too_many_attempts',
      headers,
    });
    expect(refusalOfPending('invalid_mfa_token')).toEqual({ refused: 'invalid_mfa_token' });
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { somebody } from '../../../test/somebody.ts';
import type { ExistingUser, User } from '../../accounts/accounts.module.ts';
import { TENANT_DEFAULTS, type TenantSettings } from '../../workspaces/workspaces.module.ts';
import {
  type Attempt,
  type Begin,
  begin,
  conclude,
  FACTORS,
  meet,
  meetSecond,
  secondFactorsOf,
} from './attempt.ts';

const ann = somebody;
const withTotp: ExistingUser = {
  ...ann,
  secondFactors: { factors: [{ id: 'f1', type: 'totp' }], recoveryId: null },
};
const asked = (more: Partial<Begin> = {}): Begin => ({
  via: 'login',
  first: 'password',
  user: ann,
  settings: TENANT_DEFAULTS,
  ...more,
});
const attempted = (more: Partial<Begin>, isRight = true): Attempt =>
  meet(begin(asked(more)), isRight);
const demanding = { ...TENANT_DEFAULTS, email_verification_required: true };

describe('an attempt', () => {
  it('ends in a session once its password is right', () => {
    const met = attempted({});
    if (met.status !== 'open') throw new Error(met.reason);
    expect(conclude(met)).toMatchObject({
      ...{ ends: 'session', user: ann, via: 'login' },
      ...{ method: 'password', amr: ['pwd'], secondDue: 'none' },
    });
  });

  it.each(['magic_link', 'otp'] as const)(
    'by %s leaves no session, and asks for no other proof of the address',
    (first) => {
      const unproven = { ...ann, emailVerified: false };
      const met = attempted({ first, user: unproven, settings: demanding });
      if (met.status !== 'open') throw new Error(met.reason);
      expect(conclude(met)).toMatchObject({ ends: 'token', method: first, amr: ['otp'] });
    },
  );

  it.each(['password', 'magic_link'] as const)(
    'by %s waits while a second factor is due, and says how both were met',
    (first) => {
      const met = attempted({ first, user: withTotp });
      if (met.status !== 'open') throw new Error(met.reason);
      expect(conclude(met)).toMatchObject({
        ends: 'second_factor_due',
        secondDue: 'one_of_them',
      });
      const { leaves: ends, amr } = FACTORS[first];
      expect(conclude(meetSecond(met, 'totp'))).toMatchObject({
        ends,
        method: first,
        amr: [...amr, 'otp', 'mfa'],
      });
    },
  );

  it('asks for what the tenant demands, and for nothing where it wants none', () => {
    const dueIn = (mfa_policy: TenantSettings['mfa_policy'], user = ann) => {
      const met = attempted({ user, settings: { ...TENANT_DEFAULTS, mfa_policy } });
      return met.status === 'open' ? met.secondDue : met.reason;
    };
    expect([dueIn('optional'), dueIn('optional', withTotp)]).toEqual(['none', 'one_of_them']);
    expect([dueIn('required'), dueIn('required', withTotp)]).toEqual(['enrolment', 'one_of_them']);
    expect([dueIn('disabled'), dueIn('disabled', withTotp)]).toEqual(['none', 'none']);
  });

  it('names the second factors of the account, codes on paper only where there are some', () => {
    expect(secondFactorsOf(withTotp)).toEqual(['totp']);
    const secondFactors = { ...withTotp.secondFactors, recoveryId: 'r1' };
    expect(secondFactorsOf({ ...ann, secondFactors })).toEqual(['totp', 'recovery']);
  });

  it('takes no second factor that is not due, and no first one twice', () => {
    const met = attempted({});
    if (met.status !== 'open') throw new Error(met.reason);
    expect(() => meetSecond(met, 'totp')).toThrow('no second factor');
    expect(meet(met, true)).toMatchObject({ reason: 'invalid_credentials' });
  });

  it.each<{ name: string; more: Partial<Begin>; isRight?: boolean; reason: string }>([
    { name: 'a wrong password', more: {}, isRight: false, reason: 'invalid_credentials' },
    { name: 'nobody', more: { user: { status: 'none' } as User }, reason: 'invalid_credentials' },
    { name: 'who is disabled', more: { user: { ...ann, status: 'disabled' } }, reason: 'disabled' },
    {
      name: 'a way that the tenant does not allow',
      more: { settings: { ...TENANT_DEFAULTS, auth_methods: [] } },
      reason: 'login_disabled',
    },
    {
      name: 'an address that is not shown to be theirs',
      more: { settings: demanding, user: { ...ann, emailVerified: false } },
      reason: 'email_not_verified',
    },
  ])('refuses $name', ({ more, isRight, reason }) => {
    expect(attempted(more, isRight)).toMatchObject({ status: 'refused', reason });
  });

  it('says what else stands against an account to nobody who was wrong', () => {
    for (const user of [
      { ...ann, status: 'disabled' as const },
      { ...ann, emailVerified: false },
    ])
      expect(attempted({ user, settings: demanding }, false)).toMatchObject({
        reason: 'invalid_credentials',
      });
  });

  it('lets an account be made by a password in a tenant where nobody signs in by one', () => {
    const settings = { ...TENANT_DEFAULTS, auth_methods: [] };
    expect(attempted({ via: 'register', settings }).status).toBe('open');
  });
});

it('nothing but an attempt says how somebody was known, or starts a session', () => {
  const source = join(import.meta.dirname, '../..');
  const said =
    /\bamr: \[(?!\.\.\.)|mfa_required: (true|false)|loginSessions\.start\(|\bmethod: 'password',\n/;
  const others = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => !file.startsWith(join('authentication', 'attempts')))
    .filter((file) => said.test(readFileSync(join(source, file), 'utf8')));
  expect(others).toEqual([]);
});

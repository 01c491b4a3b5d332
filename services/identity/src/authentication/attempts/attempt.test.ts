import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExistingUser, User } from '../../accounts/accounts.module.ts';
import { TENANT_DEFAULTS } from '../../workspaces/workspaces.module.ts';
import { type Attempt, type Begin, begin, conclude, type Factor, meet } from './attempt.ts';

const sealed = { subject: 'user:ann', box: 'box' };
const ann: ExistingUser = {
  ...{ status: 'active', id: 'ann', email: sealed, emailHash: 'hash', emailVerified: true },
  ...{ displayName: null, avatarUrl: null, roles: ['member'], vouched: false, tokensBefore: 0 },
  ...{ passwordHash: null, passwordEpoch: 0, epoch: 0, keepSid: null, revokedEpoch: 0 },
  ...{ epochSince: '', createdAt: '', updatedAt: '', requestHash: null },
};
const asked = (more: Partial<Begin> = {}): Begin => ({
  via: 'login',
  first: 'password',
  further: [],
  user: ann,
  settings: TENANT_DEFAULTS,
  ...more,
});
const attempted = (more: Partial<Begin>, isRight = true): Attempt =>
  meet(begin(asked(more)), asked(more).first, isRight);
const demanding = { ...TENANT_DEFAULTS, email_verification_required: true };

describe('an attempt', () => {
  it('ends in a session once its password is right', () => {
    const met = attempted({});
    if (met.status !== 'open') throw new Error(met.reason);
    expect(conclude(met)).toMatchObject({
      ...{ ends: 'session', user: ann, via: 'login' },
      ...{ method: 'password', amr: ['pwd'], mfaRequired: false },
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

  it('waits while a further factor is due, and says so', () => {
    // Until there is a second kind of factor, one that is due and stays so.
    const further = ['totp' as Factor];
    const met = attempted({ further });
    if (met.status !== 'open') throw new Error(met.reason);
    expect(met).toMatchObject({ met: ['password'], due: further });
    expect(conclude(met)).toMatchObject({ ends: 'due', mfaRequired: true });
  });

  it('meets no factor twice', () => {
    const met = attempted({});
    if (met.status !== 'open') throw new Error(met.reason);
    expect(meet(met, 'password', true)).toMatchObject({ reason: 'invalid_credentials' });
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

import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { exists, type UserEvent, users } from '../../../accounts/accounts.module.ts';
import { refuse } from '../../attempts/attempt.ts';
import { refusalOfLogin, rehashPassword } from './password-attempt.ts';

const at = '2026-01-01T10:00:00.000Z';
const sealed = (box: string) => ({ subject: 'user:ann', box });
const registered: UserEvent = {
  type: 'UserRegistered',
  data: {
    id: 'ann',
    email: sealed('email'),
    email_hash: 'h',
    email_verified: true,
    display_name: null,
    avatar_url: null,
    roles: ['member'],
    via: 'register',
    vouched: false,
    request_hash: null,
    created_at: at,
  },
};
const set = (box: string, epoch: number): UserEvent => ({
  type: 'PasswordSet',
  data: { id: 'ann', hash: sealed(box), by: 'user', epoch, keep_sid: null, at },
});
const rehashed: UserEvent = {
  type: 'PasswordRehashed',
  data: { id: 'ann', hash: sealed('today’s parameters') },
};
const deleted: UserEvent = {
  type: 'UserDeleted',
  data: { id: 'ann', email_hash: 'h', deleted_at: at },
};

const { state: verified } = given(users, registered, set('first', 1));
if (!exists(verified)) throw new Error('ann was registered');
const hash = sealed('today’s parameters');
const rehashing = (...meanwhile: readonly UserEvent[]) =>
  given(users, registered, set('first', 1), ...meanwhile).when((user) =>
    rehashPassword({ verified, hash }, user),
  );

describe('a password that was right', () => {
  it('is hashed anew, and stays the password of its epoch', () => {
    const made = rehashing();
    made.accepts(rehashed);
    expect(made.state).toMatchObject({ passwordHash: hash, passwordEpoch: 1, epoch: 1 });
  });

  it('is hashed anew once, of two logins at once', () => {
    rehashing(rehashed).accepts();
  });

  it('R11 does not come back over one that was set meanwhile', () => {
    rehashing(set('second', 2)).accepts();
  });

  it('leaves nothing of an account that was deleted meanwhile', () => {
    rehashing(deleted).accepts();
  });
});

describe('a login that is refused', () => {
  it('says what stands against it to whoever had the password', () => {
    const { refused: disabled } = refusalOfLogin(refuse('login_disabled'));
    const { refused: unproven } = refusalOfLogin(refuse('email_not_verified'));
    expect([disabled, unproven]).toEqual(['password_login_disabled', 'email_not_verified']);
  });

  it.each(['invalid_credentials', 'disabled', 'erased'] as const)(
    'says nothing else of the account: %s',
    (reason) => {
      expect(refusalOfLogin(refuse(reason))).toEqual({ refused: 'invalid_credentials' });
    },
  );

  it('says how long to wait after too many', () => {
    const headers = { 'Retry-After': '60' };
    expect(refusalOfLogin(refuse('blocked', 60))).toEqual({
      refused: 'too_many_attempts',
      headers,
    });
    expect(refusalOfLogin(refuse('limited', 60))).toEqual({ refused: 'rate_limited', headers });
  });
});

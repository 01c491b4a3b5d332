import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type UserEvent, users } from '../user.ts';
import { isVerificationDue } from './resend-verification.ts';

const at = '2026-01-01T10:00:00.000Z';
const sealed = { subject: 'user:ann', box: 'box' };
const registered: UserEvent = {
  type: 'UserRegistered',
  data: {
    id: 'ann',
    email: sealed,
    email_hash: 'h',
    email_verified: false,
    display_name: null,
    avatar_url: null,
    roles: ['member'],
    via: 'register',
    vouched: false,
    request_hash: null,
    created_at: at,
  },
};
const verified: UserEvent = { type: 'EmailVerified', data: { id: 'ann', at } };
const setBy = (by: 'user' | 'reset'): UserEvent => ({
  type: 'PasswordSet',
  data: { id: 'ann', hash: sealed, by, epoch: 1, keep_sid: null, at },
});
const deleted: UserEvent = {
  type: 'UserDeleted',
  data: { id: 'ann', email_hash: 'h', deleted_at: at },
};

const isDueAfter = (...history: readonly UserEvent[]) =>
  isVerificationDue(given(users, ...history).state);

describe('the confirmation mail', () => {
  it('is sent again until the address is proven', () => {
    expect(isDueAfter(registered)).toBe(true);
    expect(isDueAfter(registered, setBy('user'))).toBe(true);
    expect(isDueAfter(registered, verified)).toBe(false);
  });

  it('is not due any more after a reset, which came through the mailbox', () => {
    expect(isDueAfter(registered, setBy('reset'))).toBe(false);
  });

  it('is sent to nobody who is not there', () => {
    expect(isDueAfter()).toBe(false);
    expect(isDueAfter(registered, deleted)).toBe(false);
  });
});

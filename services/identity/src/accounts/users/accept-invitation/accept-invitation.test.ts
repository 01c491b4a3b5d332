import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type UserEvent, users } from '../user.ts';
import { takeOver } from './accept-invitation.ts';

const now = new Date('2026-01-01T10:00:00Z');
const at = now.toISOString();
const sealed = { subject: 'user:ann', box: 'box' };
const registered = (more: object = {}): UserEvent => ({
  type: 'UserRegistered',
  data: {
    ...{ id: 'ann', email: sealed, email_hash: 'hash', email_verified: false, roles: ['member'] },
    ...{ display_name: null, avatar_url: null, vouched: true, request_hash: null, created_at: at },
    via: 'admin',
    ...more,
  },
});
const proof = { isRegistrant: false, count: 0, tokensBefore: 0 };
const taking = { passwordHash: sealed, displayName: sealed, proof, now };

describe('an account that was created for its owner', () => {
  it('opens with their password and name, and its address is proven', () => {
    given(users, registered({ invited: true }))
      .when((user) => takeOver(taking, user))
      .accepts(
        { type: 'UserEnabled', data: { id: 'ann', at } },
        { type: 'EmailVerified', data: { id: 'ann', at } },
        { type: 'ProfileChanged', data: { id: 'ann', display_name: sealed, at } },
        {
          type: 'PasswordSet',
          data: { id: 'ann', hash: sealed, by: 'created', epoch: 0, keep_sid: null, at },
        },
      );
  });

  it('opens without a password for those who sign in otherwise', () => {
    given(users, registered({ invited: true, email_verified: true }))
      .when((user) => takeOver({ passwordHash: null, displayName: null, proof, now }, user))
      .accepts({ type: 'UserEnabled', data: { id: 'ann', at } });
  });

  it('is taken over once, and by nobody who is not invited', () => {
    given(users, registered())
      .when((user) => takeOver(taking, user))
      .refuses('not_invited');
    given(users)
      .when((user) => takeOver(taking, user))
      .refuses('not_invited');
  });
});

import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { endSessions } from './end-sessions/end-sessions.ts';
import { type UserEvent, users } from './user.ts';

const now = new Date('2026-01-01T10:00:00.000Z');
const at = now.toISOString();
const sealed = { subject: 'user:ann', box: 'box' };
const registered: UserEvent = {
  type: 'UserRegistered',
  data: {
    id: 'ann',
    email: sealed,
    email_hash: 'hash',
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
const revoked = (epoch: number, keepSid: string | null): UserEvent => ({
  type: 'SessionsRevoked',
  data: { id: 'ann', epoch, keep_sid: keepSid, count: 2, at },
});

describe('ending the sessions of an account', () => {
  const keep = { sid: 'mine', userEpoch: 0 };

  it('ends all but the one to keep, in one step', () => {
    given(users, registered)
      .when((user) => endSessions({ keep, count: 2, now }, user))
      .accepts(revoked(1, 'mine'));
    given(users, registered)
      .when((user) => endSessions({ keep: null, count: 2, now }, user))
      .accepts(revoked(1, null));
  });

  it('brings no session back that had ended before', () => {
    given(users, registered, revoked(1, null))
      .when((user) => endSessions({ keep, count: 2, now }, user))
      .accepts(revoked(2, null));
    given(users, registered, revoked(1, 'mine'))
      .when((user) => endSessions({ keep, count: 2, now }, user))
      .accepts(revoked(2, 'mine'));
  });

  it('is refused where there is no account', () => {
    given(users)
      .when((user) => endSessions({ keep: null, count: 0, now }, user))
      .refuses('not_found');
  });
});

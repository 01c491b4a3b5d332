import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type SetPassword, setPassword } from './set-password.ts';
import { type UserEvent, users } from './user.ts';

const NOW = new Date('2026-01-01T10:00:00Z');
const at = NOW.toISOString();
const sealed = (box: string) => ({ subject: 'user:ann', box });
const registered: UserEvent = {
  type: 'UserRegistered',
  data: {
    id: 'ann',
    email: sealed('email'),
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
const set = (of: { box: string; epoch: number; by: 'created' | 'user' | 'reset' }): UserEvent => ({
  type: 'PasswordSet',
  data: { id: 'ann', hash: sealed(of.box), by: of.by, epoch: of.epoch, keep_sid: null, at },
});
const created = set({ box: 'first', epoch: 0, by: 'created' });
const changed = set({ box: 'second', epoch: 1, by: 'user' });

describe('a new password', () => {
  it('by a mailed link asks for no current one', () => {
    const reset: SetPassword = { hash: sealed('third'), by: 'reset', keep: null, now: NOW };
    given(users, registered, created, changed)
      .when((user) => setPassword(reset, user))
      .accepts(set({ box: 'third', epoch: 2, by: 'reset' }));
  });
});

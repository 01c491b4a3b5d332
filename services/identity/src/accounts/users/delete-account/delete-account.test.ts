import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type UserEvent, users } from '../user.ts';
import {
  cancelDeletion,
  deleteOnTheDay,
  remindOfDeletion,
  type ScheduleDeletion,
  scheduleDeletion,
} from './delete-account.ts';

const now = new Date('2026-01-20T10:00:00Z');
const at = '2026-01-01T10:00:00.000Z';
const sealed = { subject: 'user:ann', box: 'box' };
const registered = (roles: readonly string[] = ['member']): UserEvent => ({
  type: 'UserRegistered',
  data: {
    id: 'ann',
    email: sealed,
    email_hash: 'old',
    email_verified: true,
    display_name: null,
    avatar_url: null,
    roles,
    via: 'register',
    vouched: false,
    request_hash: null,
    created_at: at,
  },
});
const scheduled: UserEvent = {
  type: 'DeletionScheduled',
  data: { id: 'ann', delete_at: '2026-02-03T10:00:00.000Z', at: now.toISOString() },
};
const asking: ScheduleDeletion = { waitDays: 14, session: null, count: 2, mayLeave: false, now };
const day = new Date('2026-02-03T10:00:00Z');

describe('the deletion of one’s own account', () => {
  it('ends the other sessions at once, and names the day', () => {
    given(users, registered())
      .when((user) => scheduleDeletion(asking, user))
      .accepts(
        {
          type: 'SessionsRevoked',
          data: { id: 'ann', epoch: 1, keep_sid: null, count: 2, at: now.toISOString() },
        },
        scheduled,
      );
    given(users, registered(), scheduled)
      .when((user) => scheduleDeletion(asking, user))
      .accepts();
  });

  it('is not for the last administrator, when asking and on the day', () => {
    const on = given(users, registered(['admin']), scheduled);
    on.when((user) => scheduleDeletion(asking, user)).refuses('leaves');
    on.when((user) => deleteOnTheDay({ mayLeave: false, now: day }, user)).refuses('leaves');
  });

  it('comes on the day, and not before or after it was taken back', () => {
    const on = given(users, registered(), scheduled);
    const data = { id: 'ann', email_hash: 'old', deleted_at: day.toISOString() };
    on.when((user) => deleteOnTheDay({ mayLeave: true, now }, user)).refuses('not_found');
    on.when((user) => deleteOnTheDay({ mayLeave: true, now: day }, user)).accepts({
      type: 'UserDeleted',
      data,
    });
    const cancelled: UserEvent = {
      type: 'DeletionCancelled',
      data: { id: 'ann', by: 'user', at: now.toISOString() },
    };
    on.when((user) => cancelDeletion({ by: 'user', now }, user)).accepts(cancelled);
    given(users, registered(), scheduled, cancelled)
      .when((user) => deleteOnTheDay({ mayLeave: true, now: day }, user))
      .refuses('not_found');
  });

  it('is told again before the day', () => {
    given(users, registered(), scheduled)
      .when((user) => remindOfDeletion({ now }, user))
      .accepts({
        type: 'DeletionReminded',
        data: { id: 'ann', delete_at: '2026-02-03T10:00:00.000Z', at: now.toISOString() },
      });
  });
});

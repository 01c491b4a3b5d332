import { describe, expect, it } from 'vitest';
import { type User, type UserEvent, users } from '../../accounts/users/user.ts';
import type { Session } from '../../sessions/session.ts';
import { endedByUser, endedWithLogin, type OnBehalf } from './basis.ts';

const sealed = { subject: 'user:ann', box: 'box' };
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 10, minute)).toISOString();
const set = (by: 'created' | 'user' | 'reset', epoch: number, keep_sid: string | null = null) =>
  ({
    type: 'PasswordSet',
    data: { id: 'ann', hash: sealed, by, epoch, keep_sid, at: at(epoch) },
  }) as const;
const endedAll = (epoch: number, keep_sid: string | null) =>
  ({
    type: 'SessionsRevoked',
    data: { id: 'ann', epoch, keep_sid, count: 1, at: at(epoch) },
  }) as const;
const disabled = (epoch: number) =>
  ({ type: 'UserDisabled', data: { id: 'ann', epoch, at: at(epoch) } }) as const;
const enabled = { type: 'UserEnabled', data: { id: 'ann', at: at(59) } } as const;

const ann = (...events: readonly UserEvent[]): User => {
  const registered: UserEvent = {
    type: 'UserRegistered',
    data: {
      id: 'ann',
      email: sealed,
      email_hash: 'h',
      email_verified: true,
      display_name: null,
      avatar_url: null,
      roles: ['member'],
      via: 'register',
      vouched: false,
      request_hash: null,
      created_at: at(0),
    },
  };
  return [registered, set('created', 0), ...events].reduce(users.evolve, users.initial);
};

const byToken = (user_epoch: number, subject_sid: string | null = 's1'): OnBehalf => ({
  user_id: 'ann',
  via: 'subject_token',
  created_at: at(0),
  user_epoch,
  subject_sid,
});
const delegated = (user_epoch: number): OnBehalf => ({
  ...byToken(user_epoch, null),
  via: 'delegation',
});
const older = (minute: number, via: OnBehalf['via']): OnBehalf => ({
  user_id: 'ann',
  via,
  created_at: new Date(new Date(at(minute)).getTime() + 1).toISOString(),
});

describe('an agent session on behalf of a user', () => {
  it.each<{ what: string; session: OnBehalf; user: User; reason?: string }>([
    { what: 'as long as nothing happens', session: byToken(0), user: ann() },
    {
      what: 'not when its user changes the password, although that login is kept',
      session: byToken(0),
      user: ann(set('user', 1, 's1')),
      reason: 'password_set',
    },
    {
      what: 'not when the password is reset',
      session: byToken(0),
      user: ann(set('reset', 1)),
      reason: 'password_set',
    },
    {
      what: 'when all sessions but its login are ended',
      session: byToken(0),
      user: ann(endedAll(1, 's1')),
    },
    {
      what: 'not when its login is among those that are ended',
      session: byToken(0),
      user: ann(endedAll(1, 's2')),
      reason: 'sessions_revoked',
    },
    {
      what: 'not when its login was kept once and ended then',
      session: byToken(0),
      user: ann(endedAll(1, 's1'), endedAll(2, 's2')),
      reason: 'sessions_revoked',
    },
    {
      what: 'when it began after all that',
      session: byToken(2, 's3'),
      user: ann(set('user', 1), endedAll(2, 's2')),
    },
    {
      what: 'not when all sessions are ended and its token named none',
      session: byToken(0, null),
      user: ann(endedAll(1, null)),
      reason: 'sessions_revoked',
    },
    {
      what: 'not when its user is disabled',
      session: delegated(0),
      user: ann(disabled(1)),
      reason: 'user_inactive',
    },
    {
      what: 'not when its user was disabled in between',
      session: byToken(0),
      user: ann(disabled(1), enabled),
      reason: 'sessions_revoked',
    },
    {
      what: 'by a delegation when its user changes the password',
      session: delegated(0),
      user: ann(set('user', 1, 's1')),
    },
    {
      what: 'by a delegation not when the password is reset',
      session: delegated(0),
      user: ann(set('reset', 1)),
      reason: 'sessions_revoked',
    },
    {
      what: 'by a delegation not when all sessions are ended, whichever is kept',
      session: delegated(0),
      user: ann(set('user', 1), endedAll(2, 's1')),
      reason: 'sessions_revoked',
    },
    {
      what: 'of a release before not when the password was changed since',
      session: older(0, 'delegation'),
      user: ann(set('user', 1)),
      reason: 'sessions_revoked',
    },
    {
      what: 'of a release before when it began after the last change',
      session: older(1, 'subject_token'),
      user: ann(set('user', 1)),
    },
  ])('lasts $what', ({ session, user, reason }) => {
    expect(endedByUser(session, user)).toBe(reason);
  });

  it('of an agent for itself asks for no user', () => {
    const own = { ...byToken(0), user_id: null, via: 'agent' } as const;
    expect(endedByUser(own, { status: 'none' })).toBeUndefined();
  });

  it('ends with its login, when that is revoked and when it runs out', () => {
    const login = {
      status: 'known',
      revoked_at: null,
      expires_at: at(30),
    } as unknown as Session;
    expect(endedWithLogin(login, new Date(at(29)))).toBeUndefined();
    expect(endedWithLogin(login, new Date(at(30)))).toBe('login_ended');
    const revoked = { ...login, revoked_at: at(10) } as Session;
    expect(endedWithLogin(revoked, new Date(at(11)))).toBe('login_ended');
    expect(endedWithLogin({ status: 'none' }, new Date(at(0)))).toBe('login_ended');
  });
});

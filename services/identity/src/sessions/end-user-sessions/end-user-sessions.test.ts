import { describe, expect, it } from 'vitest';
import type { User } from '../../accounts/accounts.module.ts';
import { rankOf } from '../../ranks/ranks.ts';
import { endUserSessions } from './end-user-sessions.ts';

const now = new Date('2026-01-01T10:00:00Z');
const as = (role: string) => ({ rank: rankOf([role]), isKey: false });
const user = (role: string) =>
  ({ id: 'bob', status: 'active', roles: [role], epoch: 2, keepSid: 's1' }) as unknown as User;

describe('all sessions of somebody', () => {
  it('are ended in one step, none is kept', () => {
    expect(endUserSessions({ by: as('admin'), count: 3, now }, user('member'))).toEqual({
      accepted: true,
      events: [
        {
          type: 'SessionsRevoked',
          data: { id: 'bob', epoch: 3, keep_sid: null, count: 3, at: now.toISOString() },
        },
      ],
    });
  });

  it('are not ended by whom they outrank', () => {
    const end = { by: as('admin'), count: 0, now };
    expect(endUserSessions(end, user('owner'))).toMatchObject({ reason: 'forbidden' });
    expect(endUserSessions(end, { status: 'none' })).toMatchObject({ reason: 'not_found' });
  });
});

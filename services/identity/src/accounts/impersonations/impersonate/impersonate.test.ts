import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import type { User } from '../../users/user.ts';
import { impersonations } from '../impersonation.ts';
import { impersonate } from './impersonate.ts';

const as = (roles: readonly string[], status = 'active') => ({ id: 'bob', roles, status }) as User;
const by = (user: User) => ({
  ...{ id: 'jti', user, adminId: 'ann', reason: 'ticket 4711', expiresAt: 600 },
});

describe('an administrator', () => {
  it('acts as a member, who and why is recorded', () => {
    given(impersonations)
      .when((impersonation) => impersonate(by(as(['member', 'billing'])), impersonation))
      .accepts({
        type: 'ImpersonationStarted',
        data: {
          ...{ id: 'jti', user_id: 'bob', admin_id: 'ann', reason: 'ticket 4711' },
          expires_at: '1970-01-01T00:10:00.000Z',
        },
      });
  });

  it.each([
    { user: as(['admin']), reason: 'forbidden' },
    { user: as(['member', 'owner']), reason: 'forbidden' },
    { user: as(['member'], 'disabled'), reason: 'forbidden' },
    { user: as(['member'], 'invited'), reason: 'forbidden' },
    { user: { status: 'none' } as User, reason: 'not_found' },
  ] as const)('acts as nobody else: $user.roles, $user.status', ({ user, reason }) => {
    given(impersonations)
      .when((impersonation) => impersonate(by(user), impersonation))
      .refuses(reason);
  });
});

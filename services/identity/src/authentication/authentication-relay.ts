/** What other services hear of logins that failed, and of those that left no session. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import { ignoring } from '@cardea/event-store';
import { readSnapshot } from '../accounts/accounts.module.ts';
import type { SigninEvent } from './attempts/lockout.ts';
import type { RegistrationEvent } from './registrations/registration.ts';

export const authenticationRelay = relay<SigninEvent | RegistrationEvent, typeof identityEvents>({
  SignedIn: async ({ data, streamId }, tools) => {
    const { user_id, method, amr, user, at } = data;
    const opened = await tools.open(user, { streamId, field: 'user' });
    const snapshot = readSnapshot(opened, { id: user_id, at });
    return { type: 'user.login', data: { ...snapshot, method, amr: [...amr], session: null } };
  },
  SignInFailed: ({ data }) => {
    const { user_id, method, reason, failures, blocked_until } = data;
    return {
      type: 'user.login_failed',
      data: {
        user_id,
        method,
        reason,
        failures,
        blocked_until,
      },
    };
  },
  ...ignoring('it is for this module alone', 'SignInCleared', 'RegistrationRefused'),
});

/** What other services hear of attempts to sign in. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import { ignoring } from '@cardea/event-store';
import type { RegistrationEvent } from './registrations/registration.ts';
import type { SigninEvent } from './attempts/sign-in.ts';

export const authenticationRelay = relay<SigninEvent | RegistrationEvent, typeof identityEvents>({
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
  ...ignoring('it is for the guard alone', 'SignInCleared', 'RegistrationRefused'),
});

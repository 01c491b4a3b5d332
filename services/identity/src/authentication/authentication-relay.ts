/** Publishes failed logins, and logins that started no session. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import { readSnapshot } from '../accounts/accounts.module.ts';
import type { SigninEvent } from '../streams/signin.ts';
import type { PasskeyFailureEvent } from './passkeys/passkey-failure.ts';
import type { RegistrationEvent } from './registrations/registration.ts';
import type { PendingSignInEvent } from './second-factor/pending-sign-in.ts';
import type { SocialCodeEvent } from './social/social-code.ts';

export const authenticationRelay = relay<
  SigninEvent | RegistrationEvent | PendingSignInEvent | SocialCodeEvent | PasskeyFailureEvent,
  typeof identityEvents
>({
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
  SecondFactorFailed: ({ data: { user_id, method, failures } }) => ({
    type: 'user.login_failed',
    data: { user_id, method, reason: 'invalid_code', failures, blocked_until: null },
  }),
  PasskeySignInFailed: ({ data: { user_id, reason } }) => ({
    type: 'user.login_failed',
    data: { user_id, method: 'passkeys', reason, failures: 1, blocked_until: null },
  }),
  SignInCleared: ({ data: { user_id, by } }) =>
    by === 'administrator' ? { type: 'user.unlocked', data: { id: user_id } } : undefined,
});

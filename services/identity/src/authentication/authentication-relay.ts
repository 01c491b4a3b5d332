/** What other services hear of attempts to sign in. */
import { integrationEvent, relayOf } from '../streams/integration-events.ts';
import type { SigninEvent } from './signins/signin.ts';

export const authenticationRelay = relayOf<SigninEvent>({
  SignInFailed: ({ data }) => {
    const { user_id, method, reason, failures, blocked_until } = data;
    return integrationEvent('user.login_failed', {
      user_id,
      method,
      reason,
      failures,
      blocked_until,
    });
  },
});

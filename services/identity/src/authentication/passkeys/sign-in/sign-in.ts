/** What a sign-in by passkey that was refused is answered. */
import { tooOften } from '../../../http/answers.ts';
import type { Refusal, Refused } from '../../attempts/attempt.ts';
import type { PasskeyFailureReason } from '../passkey-failure.ts';

export const INVALID_PASSKEY = { refused: 'invalid_passkey' } as const;

/** What stands against it is told to whoever showed the passkey; all else is a wrong one. */
export function refusalOfPasskey({ reason, retryAfterSeconds = 0 }: Refused) {
  switch (reason) {
    case 'email_not_verified':
      return { refused: reason } as const;
    case 'login_disabled':
      return { refused: 'passkeys_login_disabled' } as const;
    case 'limited':
    case 'blocked':
      return tooOften({ retryAfterSeconds });
    case 'disabled':
    case 'erased':
    case 'invalid_credentials':
      return INVALID_PASSKEY;
  }
}

/** What is recorded of it; undefined: that the tenant does not allow passkeys is nobody's failure. */
export function failureOf(reason: Refusal): PasskeyFailureReason | undefined {
  switch (reason) {
    case 'email_not_verified':
    case 'disabled':
    case 'invalid_credentials':
      return reason;
    case 'login_disabled':
    case 'blocked':
    case 'limited':
    case 'erased':
      return undefined;
  }
}

/** What a sign-in by passkey that was refused is answered. */
import { tooOften } from '../../../http/answers.ts';
import type { Refused } from '../../attempts/attempt.ts';

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

/** The responses to refused sign-ins by passkey. */
import { tooOften } from '../../../http/answers.ts';
import type { Refusal, Refused } from '../../attempts/attempt.ts';
import type { PasskeyFailureReason } from '../passkey-failure.ts';

export const INVALID_PASSKEY = { refused: 'invalid_passkey' } as const;

/** The holder of the passkey may learn the objection. Any other refusal looks like a wrong passkey. */
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

/** The reason to record. Undefined if the tenant does not allow passkeys, which is no failure of a user. */
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

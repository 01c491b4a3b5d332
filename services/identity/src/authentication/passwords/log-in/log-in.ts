/** What a login answers once the password was tried. */
import type { Refused } from '../../attempts/attempt.ts';
import { wrongCredential } from '../../attempts/end-attempt.ts';

/** What stands against a login is told to whoever had the right credential. */
export function refusalOfLogin(refused: Refused) {
  if (refused.reason === 'email_not_verified') return { refused: refused.reason } as const;
  if (refused.reason === 'login_disabled') return { refused: 'password_login_disabled' } as const;
  return wrongCredential(refused);
}

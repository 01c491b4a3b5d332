/** What a login does and answers once the password was tried. */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision } from '@cardea/event-store';
import {
  type ExistingUser,
  exists,
  type User,
  type UserEvent,
} from '../../../accounts/accounts.module.ts';
import type { Refused } from '../../attempts/attempt.ts';
import { wrongCredential } from '../../attempts/end-attempt.ts';

export type Rehash = {
  /** As it was when its password was verified. */
  readonly verified: ExistingUser;
  /** The same password with today's parameters. */
  readonly hash: Sealed;
};

/** A password that was set meanwhile is another one and stays. */
export function rehashPassword({ verified, hash }: Rehash, user: User): Decision<UserEvent, never> {
  if (!exists(user) || user.passwordHash?.box !== verified.passwordHash?.box) return accept();
  return accept({ type: 'PasswordRehashed', data: { id: user.id, hash } });
}

/** What stands against a login is told to whoever had the right credential. */
export function refusalOfLogin(refused: Refused) {
  if (refused.reason === 'email_not_verified') return { refused: refused.reason } as const;
  if (refused.reason === 'login_disabled') return { refused: 'password_login_disabled' } as const;
  return wrongCredential(refused);
}

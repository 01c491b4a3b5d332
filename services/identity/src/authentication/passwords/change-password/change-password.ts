/** A user changes their own password. They have verified the current one, of this epoch. */
import type { Sealed } from '@cardea/crypto';
import { type Decision, refuse } from '@cardea/event-store';
import {
  type ExistingUser,
  type KeptSession,
  setPassword,
  type User,
  type UserEvent,
} from '../../../accounts/accounts.module.ts';

export type ChangePassword = {
  /** The user as of the verification of the password. */
  readonly verified: ExistingUser;
  readonly hash: Sealed;
  /** The session that changes the password continues. */
  readonly keep: KeptSession | null;
  readonly now: Date;
};

export function changePassword(
  { verified, ...set }: ChangePassword,
  user: User,
): Decision<UserEvent, 'not_found' | 'not_current'> {
  if (user.status === 'active' && user.passwordEpoch !== verified.passwordEpoch) {
    return refuse('not_current');
  }
  return setPassword({ ...set, by: 'user' }, user);
}

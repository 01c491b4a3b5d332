/**
 * A new password ends every session except the one that set it. A reset, which needs no session, ends all
 * of them and proves the address.
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { type KeptSession, keptSid, type User, type UserEvent } from './user.ts';

export type SetPassword = {
  readonly hash: Sealed;
  readonly keep: KeptSession | null;
  readonly now: Date;
  readonly by: 'user' | 'reset' | 'admin';
};

export function setPassword(
  { hash, by, keep, now }: SetPassword,
  user: User,
): Decision<UserEvent, 'not_found'> {
  if (user.status !== 'active') return refuse('not_found');
  const at = now.toISOString();
  return accept({
    type: 'PasswordSet',
    data: { id: user.id, hash, by, epoch: user.epoch + 1, keep_sid: keptSid(user, keep), at },
  });
}

/**
 * A new password ends every session except the one that set it. A reset needs no session, ends all of them and proves
 * the address. If the address was never proven, the reset reclaims the account.
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { addressProven } from './prove-address.ts';
import type { Reclaim } from './reclaim.ts';
import { type KeptSession, keptSid, type User, type UserEvent } from './user.ts';

export type SetPassword = {
  readonly hash: Sealed;
  readonly now: Date;
} & (
  | { readonly by: 'user' | 'admin'; readonly keep: KeptSession | null }
  | { readonly by: 'reset'; readonly keep: null; readonly reclaim: Reclaim }
);

export function setPassword(command: SetPassword, user: User): Decision<UserEvent, 'not_found'> {
  if (user.status !== 'active') return refuse('not_found');
  const { hash, by, keep, now } = command;
  const before =
    command.by === 'reset'
      ? addressProven(user, { ...command.reclaim, isRegistrant: false, now })
      : [];
  const isReclaimed = before.some(({ type }) => type === 'AccountReclaimed');
  // Reclaiming raises the epoch too.
  const epoch = user.epoch + (isReclaimed ? 2 : 1);
  const at = now.toISOString();
  return accept<UserEvent>(...before, {
    type: 'PasswordSet',
    data: { id: user.id, hash, by, epoch, keep_sid: keptSid(user, keep), at },
  });
}

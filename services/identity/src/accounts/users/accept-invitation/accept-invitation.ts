/** The owner of an account that an administrator created takes it over. The mailed link proves the address. */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { type AddressProof, addressProven } from '../prove-address.ts';
import type { User, UserEvent } from '../user.ts';

export type TakeOver = {
  /** Null if they sign in by other methods. */
  readonly passwordHash: Sealed | null;
  /** Null keeps the name. */
  readonly displayName: Sealed | null;
  readonly proof: Omit<AddressProof, 'now'>;
  readonly now: Date;
};

export function takeOver(
  { passwordHash: hash, displayName, proof, now }: TakeOver,
  user: User,
): Decision<UserEvent, 'not_invited'> {
  if (user.status !== 'invited') return refuse('not_invited');
  const { id, epoch } = user;
  const at = now.toISOString();
  const events: UserEvent[] = [
    { type: 'UserEnabled', data: { id, at } },
    ...addressProven(user, { ...proof, now }),
  ];
  if (displayName !== null) {
    events.push({ type: 'ProfileChanged', data: { id, display_name: displayName, at } });
  }
  if (hash !== null) {
    const data = { id, hash, by: 'created', epoch, keep_sid: null, at } as const;
    events.push({ type: 'PasswordSet', data });
  }
  return accept(...events);
}

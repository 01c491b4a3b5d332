/** Links an account elsewhere to the user whose address it proves; one that was never proven is reclaimed. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { identityLinked, type NewIdentity } from '../identities.ts';
import { type Reclaim, reclaimed } from '../reclaim.ts';
import type { User, UserEvent } from '../user.ts';

export type LinkIdentity = Reclaim & {
  readonly identity: NewIdentity;
  readonly now: Date;
};

export function linkIdentity(
  { identity, now, ...reclaim }: LinkIdentity,
  user: User,
): Decision<UserEvent, 'user_inactive' | 'other_identity'> {
  if (user.status !== 'active') return refuse('user_inactive');
  const known = user.identities.find(({ provider }) => provider === identity.provider);
  // An address may have been given to somebody else meanwhile; the account elsewhere may not.
  if (known !== undefined)
    return known.hash === identity.hash ? accept() : refuse('other_identity');
  const linked = identityLinked(user.id, identity, { before: user.identities, now });
  if (user.emailVerified) return accept<UserEvent>(linked);
  return accept<UserEvent>(
    ...reclaimed(user, reclaim, now),
    { type: 'EmailVerified', data: { id: user.id, at: now.toISOString() } },
    linked,
  );
}

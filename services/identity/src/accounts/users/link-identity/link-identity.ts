/**
 * Links an external account to the user whose address it proves. An account whose address was never proven is
 * reclaimed.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { identityLinked, type NewIdentity } from '../identities.ts';
import { addressProven } from '../prove-address.ts';
import type { Reclaim } from '../reclaim.ts';
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
  // If the address was never proven, another person may have linked the earlier external accounts, so they are removed.
  const before = user.emailVerified ? user.identities : [];
  const known = before.find(({ provider }) => provider === identity.provider);
  // The address may have passed to another person; the external account cannot.
  if (known !== undefined)
    return known.hash === identity.hash ? accept() : refuse('other_identity');
  const proven = addressProven(user, { ...reclaim, isRegistrant: false, now });
  return accept<UserEvent>(...proven, identityLinked(user.id, identity, { before, now }));
}

/**
 * Records that a person has proven an account's address. All first proofs use `addressProven`, because another person
 * may have registered the account. Then it is reclaimed, unless the proof comes from the person who registered it.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Basis } from '../../streams/basis.ts';
import { type Reclaim, reclaimed } from './reclaim.ts';
import { type ExistingUser, standsFor, type User, type UserEvent } from './user.ts';

export type AddressProof = Reclaim & {
  /** Whether the proof came with a session of the account, or with its password. */
  readonly isRegistrant: boolean;
  readonly now: Date;
};

/** Records nothing if the address was proven before. */
export function addressProven(
  user: ExistingUser,
  { isRegistrant, now, ...reclaim }: AddressProof,
): readonly UserEvent[] {
  if (user.emailVerified) return [];
  const verified: UserEvent = {
    type: 'EmailVerified',
    data: { id: user.id, at: now.toISOString() },
  };
  if (isRegistrant || !isPrepared(user)) return [verified];
  return [...reclaimed(user, reclaim, now), verified];
}

/** Whether the account has a credential by which somebody could have used it. */
const isPrepared = ({ passwordHash, secondFactors, identities }: ExistingUser): boolean =>
  passwordHash !== null || secondFactors.factors.length > 0 || identities.length > 0;

export type ProveAddress = AddressProof & {
  /** The state on which the mailed secret depends. */
  readonly basis: Basis;
};

export function proveAddress(
  { basis, ...proof }: ProveAddress,
  user: User,
): Decision<UserEvent, 'not_found'> {
  if (user.status !== 'active' || !standsFor(user, basis)) return refuse('not_found');
  return accept(...addressProven(user, proof));
}

/** A user removes one of their second factors. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  type ExistingUser,
  factorRemoved,
  type User,
  type UserEvent,
  type UserFactor,
} from '../../../accounts/accounts.module.ts';

export type RemoveFactor = {
  readonly factorId: string;
  /** The tenant requires a second factor of every user. */
  readonly isRequired: boolean;
  readonly now: Date;
};

export function removeFactor(
  { factorId, isRequired, now }: RemoveFactor,
  user: User,
): Decision<UserEvent, 'not_found' | 'mfa_required_by_policy' | 'last_credential'> {
  if (user.status !== 'active') return refuse('not_found');
  const { factors } = user.secondFactors;
  const factor = factors.find(({ id }) => id === factorId);
  if (factor === undefined) return refuse('not_found');
  const isLast = factors.length === 1;
  if (isLast && isRequired) return refuse('mfa_required_by_policy');
  if (isLastCredential(user, factor)) return refuse('last_credential');
  return accept<UserEvent>(factorRemoved(user.id, factor, { isLast, now }));
}

/** Without a password or an external account, a passkey may be the owner's only way to sign in. */
function isLastCredential(
  { passwordHash, secondFactors, identities }: ExistingUser,
  { type }: UserFactor,
) {
  const passkeys = secondFactors.factors.filter((factor) => factor.type === 'passkey');
  const hasOther = passwordHash !== null || identities.length > 0;
  return type === 'passkey' && passkeys.length === 1 && !hasOther;
}

/** A user gives up one of their second factors. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { factorRemoved, type User, type UserEvent } from '../../../accounts/accounts.module.ts';

export type RemoveFactor = {
  readonly factorId: string;
  /** The tenant demands a second factor of everybody. */
  readonly isRequired: boolean;
  readonly now: Date;
};

export function removeFactor(
  { factorId, isRequired, now }: RemoveFactor,
  user: User,
): Decision<UserEvent, 'not_found' | 'mfa_required_by_policy'> {
  if (user.status !== 'active') return refuse('not_found');
  const { factors } = user.secondFactors;
  const factor = factors.find(({ id }) => id === factorId);
  if (factor === undefined) return refuse('not_found');
  const isLast = factors.length === 1;
  if (isLast && isRequired) return refuse('mfa_required_by_policy');
  return accept<UserEvent>(factorRemoved(user.id, factor, { isLast, now }));
}

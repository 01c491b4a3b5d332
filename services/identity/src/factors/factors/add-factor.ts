/** Adds a factor to an account after its first use was verified. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { User, UserEvent, UserFactor } from '../../accounts/accounts.module.ts';

export const FACTORS_MAX = 10;

export type AddFactor = {
  readonly factor: UserFactor;
  /** Recovery codes that were generated with it replace earlier ones. */
  readonly recoveryId: string | null;
  readonly now: Date;
};

export function addFactor(
  { factor, recoveryId, now }: AddFactor,
  user: User,
): Decision<UserEvent, 'not_found' | 'too_many_factors'> {
  if (user.status !== 'active') return refuse('not_found');
  const { factors } = user.secondFactors;
  if (factors.some(({ id }) => id === factor.id)) return refuse('not_found');
  if (factors.length >= FACTORS_MAX) return refuse('too_many_factors');
  const at = now.toISOString();
  const { id: factor_id, type: factor_type } = factor;
  const added: UserEvent = {
    type: 'FactorAdded',
    data: { id: user.id, factor_id, factor_type, at },
  };
  if (recoveryId === null) return accept(added);
  return accept<UserEvent>(added, {
    type: 'RecoveryCodesSet',
    data: { id: user.id, factor_id: recoveryId, at },
  });
}

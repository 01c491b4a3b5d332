/** The secret of an authenticator app. Each time step is accepted once, for any purpose. */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Factor, FactorEvent } from '../factor.ts';

/** How long a new secret waits for its first code. */
export const ENROLMENT_MS = 10 * 60_000;

export type EnrolTotp = {
  readonly id: string;
  readonly userId: string;
  readonly name: Sealed | null;
  readonly secret: Sealed;
  readonly now: Date;
};

export function enrolTotp(
  { id, userId, name, secret, now }: EnrolTotp,
  factor: Factor,
): Decision<FactorEvent, 'already_created'> {
  if (factor.type !== 'none') return refuse('already_created');
  return accept({
    type: 'FactorEnrolled',
    data: {
      id,
      user_id: userId,
      type: 'totp',
      name,
      secret,
      last_step: -1,
      enrolled_at: now.toISOString(),
      last_used_at: null,
    },
  });
}

export type UseTotp = {
  readonly userId: string;
  /** The time step of the code. Null for a wrong code. */
  readonly step: number | null;
  readonly now: Date;
};

export function useTotp(
  { userId, step, now }: UseTotp,
  factor: Factor,
): Decision<FactorEvent, 'not_found' | 'wrong' | 'used'> {
  if (factor.type !== 'totp' || factor.user_id !== userId) return refuse('not_found');
  if (step === null) return refuse('wrong');
  if (step <= factor.last_step) return refuse('used');
  const last_used_at = now.toISOString();
  return accept({ type: 'FactorUsed', data: { ...factor, last_step: step, last_used_at } });
}

/** Verifies the first code of a new secret. */
export function confirmTotp(
  use: UseTotp,
  factor: Factor,
): Decision<FactorEvent, 'not_found' | 'wrong' | 'used' | 'expired'> {
  if (factor.type !== 'totp' || factor.user_id !== use.userId) return refuse('not_found');
  const age = use.now.getTime() - new Date(factor.enrolled_at).getTime();
  return age >= ENROLMENT_MS ? refuse('expired') : useTotp(use, factor);
}

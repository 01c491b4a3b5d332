/**
 * A sign-in that waits for its second factor, named by its `mfa_token`. It completes once, and five wrong codes end it.
 * Nothing is recorded before the first wrong code or the completion.
 */
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';
import type { SecondFactor } from '../attempts/attempt.ts';

export const FAILURES_MAX = 5;

export type PendingSignIn = { readonly failures: number; readonly isMet: boolean };

type Shown = {
  readonly user_id: string;
  readonly method: SecondFactor;
  /** The number of wrong codes so far. */
  readonly failures: number;
  readonly at: string;
};
export type PendingSignInEvent =
  | { readonly type: 'SecondFactorFailed'; readonly data: Shown }
  | { readonly type: 'SecondFactorMet'; readonly concerns?: never; readonly data: Shown };

export const pendingSignIns: Stream<PendingSignIn, PendingSignInEvent> = {
  noun: 'mfa',
  initial: { failures: 0, isMet: false },
  stateCarrying: true,
  evolve: (_before, { type, data: { failures } }) => {
    switch (type) {
      case 'SecondFactorFailed':
        return { failures, isMet: false };
      case 'SecondFactorMet':
        return { failures, isMet: true };
    }
  },
};

export type PendingFault = 'invalid_mfa_token' | 'too_many_attempts';

/** Why the sign-in can no longer be completed; undefined if it can. */
export function faultOf({ failures, isMet }: PendingSignIn): PendingFault | undefined {
  if (isMet) return 'invalid_mfa_token';
  return failures >= FAILURES_MAX ? 'too_many_attempts' : undefined;
}

export type ShowSecond = {
  readonly userId: string;
  readonly method: SecondFactor;
  readonly isRight: boolean;
  readonly now: Date;
};

/** Decides no more concurrent attempts than the limit allows, and completes only one. */
export function showSecond(
  { userId, method, isRight, now }: ShowSecond,
  pending: PendingSignIn,
): Decision<PendingSignInEvent, PendingFault | 'invalid_code'> {
  const fault = faultOf(pending);
  if (fault !== undefined) return refuse(fault);
  const shown = { user_id: userId, method, at: now.toISOString() };
  if (isRight) {
    const data = { ...shown, failures: pending.failures };
    return accept({ type: 'SecondFactorMet', data });
  }
  const data = { ...shown, failures: pending.failures + 1 };
  return refuse('invalid_code', { type: 'SecondFactorFailed', data });
}

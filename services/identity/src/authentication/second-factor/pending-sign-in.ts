/**
 * A sign-in that waits for its second factor, named by its `mfa_token`. It completes once; five wrong codes
 * end it. Nothing is recorded before the first of either.
 */
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';
import type { SecondFactor } from '../attempts/attempt.ts';

export const FAILURES_MAX = 5;

export type PendingSignIn = { readonly failures: number; readonly isMet: boolean };

type Shown = {
  readonly user_id: string;
  readonly method: SecondFactor;
  /** So far. */
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

/** Why nothing can be shown for it any more; undefined where something can. */
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

/** Where many come at once, no more than the limit are decided on, and one is right. */
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

/** Confirms a session as if its user had just signed in, for calls that require a recent sign-in. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { type ExistingUser, hasSecondFactor } from '../../accounts/accounts.module.ts';
import {
  factsOf,
  isAlive,
  type Session,
  type SessionEvent,
  type ValidityContext,
} from '../../sessions/sessions.module.ts';
import type { TenantSettings } from '../../workspaces/workspaces.module.ts';
import { amrAfterStep, type StepFactor } from '../attempts/attempt.ts';

/**
 * Whether a password is enough. A user with a second factor has to use that one; otherwise the password alone could
 * remove the factor.
 */
export const isEnough = (
  factor: StepFactor,
  user: ExistingUser,
  { mfa_policy: policy }: Pick<TenantSettings, 'mfa_policy'>,
): boolean => factor !== 'password' || policy === 'disabled' || !hasSecondFactor(user);

export type StepUp = {
  readonly userId: string;
  readonly factor: StepFactor;
  /** Null for a password. */
  readonly factorId: string | null;
  readonly validity: ValidityContext;
  readonly now: Date;
};

export function stepUp(
  { userId, factor, factorId, validity, now }: StepUp,
  session: Session,
): Decision<SessionEvent, 'user_session_required'> {
  if (session.status === 'none' || session.user_id !== userId) {
    return refuse('user_session_required');
  }
  if (!isAlive(session, validity, now)) return refuse('user_session_required');
  const data = {
    ...factsOf(session),
    auth_time: Math.floor(now.getTime() / 1000),
    amr: amrAfterStep(session.amr, factor),
    method: factor,
    factor_id: factorId,
  };
  return accept({ type: 'SessionStepped', data });
}

/** A refused sign-in by passkey, recorded for later investigation. It causes no lock-out. */
import { accept, type Decision, type Stream } from '@cardea/event-store';

export type PasskeyFailureEvent = {
  readonly type: 'PasskeySignInFailed';
  readonly data: {
    /** Null if no user has this passkey. */
    readonly user_id: string | null;
    readonly reason: PasskeyFailureReason;
    readonly at: string;
  };
};
export type PasskeyFailureReason = 'invalid_credentials' | 'disabled' | 'email_not_verified';

/** The stream is named by the command of the request. */
export const passkeyFailures: Stream<null, PasskeyFailureEvent> = {
  noun: 'passkeyfailure',
  initial: null,
  evolve: () => null,
};

export function passkeyFailed(
  of: { readonly userId: string | null; readonly reason: PasskeyFailureReason },
  now: Date,
): Decision<PasskeyFailureEvent, never> {
  const data = { user_id: of.userId, reason: of.reason, at: now.toISOString() };
  return accept({ type: 'PasskeySignInFailed', data });
}

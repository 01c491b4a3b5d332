/**
 * Some calls require a recent sign-in, however old the session is (RFC 9470). Access tokens contain the
 * time of the sign-in. The request pipeline checks it first from the token, and again after identity has confirmed the
 * caller. If the session has ended, identity reports no sign-in, so the second check fails.
 */
import type { UserPrincipal } from '@cardea/auth';
import type { StepUp } from '../contract/caller.ts';
import { type Refusal, refusalOf } from '../refusals/refusal.ts';

/** The maximum age of a recent sign-in. */
export const AUTH_AGE_SECONDS_MAX = 600;
const MS = 1_000;

/** The challenge of a 401 `step_up_required` (RFC 9470, section 3). */
export const stepUpHeaders = (maxAgeSeconds: number) => ({
  'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age="${maxAgeSeconds}"`,
});

type SignIn = Pick<UserPrincipal, 'authTime' | 'clientId'>;

export function withoutRecentSignIn(
  signIn: SignIn,
  { stepUp, now }: { readonly stepUp: StepUp; readonly now: Date },
): Refusal | undefined {
  const { authTime, clientId } = signIn;
  if (!asksFor(stepUp, clientId)) return undefined;
  const isRecent = authTime !== null && now.getTime() / MS - authTime < AUTH_AGE_SECONDS_MAX;
  return isRecent ? undefined : refused();
}

/** Does not compare the age again, because an accepted call may last longer than the sign-in stays recent. */
export const withoutSignIn = (
  { authTime, clientId }: SignIn,
  stepUp: StepUp,
): Refusal | undefined => (authTime === null && asksFor(stepUp, clientId) ? refused() : undefined);

const refused = (): Refusal =>
  refusalOf('step_up_required', { headers: stepUpHeaders(AUTH_AGE_SECONDS_MAX) });

function asksFor(stepUp: StepUp, clientId: string | null): boolean {
  switch (stepUp) {
    case 'users':
      return true;
    case 'applications':
      return clientId !== null;
    case 'none':
      return false;
  }
}

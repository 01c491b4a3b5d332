/** Some calls require a recent sign-in, however old the session is (RFC 9470). */
import type { Principal, UserPrincipal } from '@cardea/auth';

const AUTH_AGE_SECONDS_MAX = 600;

export const signedInLately = (principal: Principal | undefined, now: Date): boolean =>
  principal?.kind === 'user' &&
  principal.authTime !== null &&
  now.getTime() / 1000 - principal.authTime < AUTH_AGE_SECONDS_MAX;

export const STEP_UP_HEADERS = {
  'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age="${AUTH_AGE_SECONDS_MAX}"`,
} as const;

/**
 * What stands against changing the caller's own credentials: somebody who impersonates the user may not, and
 * the sign-in has to be recent. Contracts keep applications out that lack the scope `account`.
 */
export function objectionToOwnChange(principal: UserPrincipal, now: Date) {
  if (!actsInPerson(principal)) return { refused: 'forbidden' } as const;
  if (signedInLately(principal, now)) return undefined;
  return { refused: 'step_up_required', headers: STEP_UP_HEADERS } as const;
}

export const actsInPerson = ({ impersonatedBy }: UserPrincipal): boolean => impersonatedBy === null;

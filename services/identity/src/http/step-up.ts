/** Some calls require a recent sign-in, however old the session is (RFC 9470). */
import type { Principal } from '@cardea/auth';

const AUTH_AGE_SECONDS_MAX = 600;

export const signedInLately = (principal: Principal | undefined, now: Date): boolean =>
  principal?.kind === 'user' &&
  principal.authTime !== null &&
  now.getTime() / 1000 - principal.authTime < AUTH_AGE_SECONDS_MAX;

export const STEP_UP_HEADERS = {
  'WWW-Authenticate': `Bearer error="insufficient_user_authentication", max_age="${AUTH_AGE_SECONDS_MAX}"`,
} as const;

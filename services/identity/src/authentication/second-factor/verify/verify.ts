/** Resumes the sign-in of an `mfa_token`, and the responses to tokens that are no longer valid. */
import { standsFor, type User } from '../../../accounts/accounts.module.ts';
import { tooManyAttempts } from '../../../http/answers.ts';
import type { TenantFacts } from '../../../workspaces/workspaces.module.ts';
import { begin, type MetAttempt, meet } from '../../attempts/attempt.ts';
import { MFA_TOKEN_SECONDS, type MfaClaims } from '../../attempts/mfa-token.ts';
import type { PendingFault } from '../pending-sign-in.ts';

/** Resumes the attempt where it stopped, unless the state that it depended on has changed. */
export function resumed(
  { via, first, due, epoch }: Pick<MfaClaims, 'via' | 'first' | 'due' | 'epoch'>,
  { user, settings }: { readonly user: User; readonly settings: TenantFacts['settings'] },
): MetAttempt | undefined {
  if (!standsFor(user, { user_epoch: epoch })) return undefined;
  const attempt = meet(begin({ via, first, user, settings }), true);
  return attempt.status === 'open' && attempt.secondDue === due ? attempt : undefined;
}

export const INVALID_CODE = { refused: 'invalid_code' } as const;
export const INVALID_TOKEN = { refused: 'invalid_mfa_token' } as const;

/** A token without remaining attempts is invalid for the rest of its life. */
export const refusalOfPending = (fault: PendingFault) =>
  fault === 'too_many_attempts'
    ? tooManyAttempts({ retryAfterSeconds: MFA_TOKEN_SECONDS })
    : INVALID_TOKEN;

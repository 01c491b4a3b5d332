/** What an `mfa_token` still stands for, and what is answered where it stands for nothing. */
import { standsFor, type User } from '../../../accounts/accounts.module.ts';
import { tooManyAttempts } from '../../../http/answers.ts';
import type { TenantFacts } from '../../../workspaces/workspaces.module.ts';
import { begin, type MetAttempt, meet } from '../../attempts/attempt.ts';
import { MFA_TOKEN_SECONDS, type MfaClaims } from '../../attempts/mfa-token.ts';
import type { PendingFault } from '../pending-sign-in.ts';

/** The attempt goes on where it stopped, unless what it rested on has changed. */
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

/** A token without attempts left is worth nothing for the rest of its life. */
export const refusalOfPending = (fault: PendingFault) =>
  fault === 'too_many_attempts'
    ? tooManyAttempts({ retryAfterSeconds: MFA_TOKEN_SECONDS })
    : INVALID_TOKEN;

/** Finds the mailbox in which a code is looked up, and the response to a code that signs nobody in. */
import type { DerivedKeys } from '@cardea/crypto';
import { emailAddress, type ToAscii } from '../../../accounts/accounts.module.ts';
import { tooManyAttempts } from '../../../http/answers.ts';
import { type CodeFault, mailboxOfChallenge } from '../../../mail/mail.module.ts';
import type { OtpFormat } from '../../../workspaces/workspaces.module.ts';
import { challengeOfCookie } from '../code-cookie.ts';

export const INVALID_CODE = { refused: 'invalid_code' } as const;

export type MailboxNaming = {
  readonly challenge: string | undefined;
  readonly email: string | undefined;
  readonly cookies: string | undefined;
};

export type NamedMailbox =
  | { readonly by: 'challenge'; readonly mailbox: string; readonly asker: string }
  | { readonly by: 'email'; readonly email: string }
  | { readonly by: 'nothing' }
  | { readonly by: 'unknown_challenge' }
  | { readonly by: 'no_address' };

/** A mailbox that the request names takes precedence. If it is the wrong one, the cookie is not tried. */
export function mailboxNamed(
  { challenge, email, cookies }: MailboxNaming,
  of: { readonly codeKeys: DerivedKeys; readonly toAscii: ToAscii; readonly tenantId: string },
): NamedMailbox {
  if (challenge !== undefined) return challenged(challenge, of);
  if (email !== undefined) {
    const address = emailAddress(email, of.toAscii);
    return address === undefined ? { by: 'no_address' } : { by: 'email', email: address };
  }
  const bound = challengeOfCookie(cookies);
  return bound === undefined ? { by: 'nothing' } : challenged(bound, of);
}

function challenged(
  challenge: string,
  { codeKeys, tenantId }: { readonly codeKeys: DerivedKeys; readonly tenantId: string },
): NamedMailbox {
  const mailbox = mailboxOfChallenge(codeKeys, tenantId, challenge);
  return mailbox === undefined ? { by: 'unknown_challenge' } : { by: 'challenge', ...mailbox };
}

/** Whether a code may be looked up in all mailboxes of a tenant. Six digits are too few for that. */
export const mayBeUnbound = (format: OtpFormat): boolean => format !== 'digits6';

const RETRY_AFTER_SECONDS = 60;

export function refusalOfCode(fault: CodeFault | 'login_disabled') {
  switch (fault) {
    case 'too_many_attempts':
      return tooManyAttempts({ retryAfterSeconds: RETRY_AFTER_SECONDS });
    case 'login_disabled':
      return { refused: 'otp_login_disabled' } as const;
    case 'expired':
      return { refused: 'code_expired' } as const;
    case 'invalid':
    case 'used':
      return INVALID_CODE;
  }
}

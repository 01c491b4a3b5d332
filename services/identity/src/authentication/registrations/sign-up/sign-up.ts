/** Who may sign up as what, and what an address that is taken comes to. */
import type { Command } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import {
  displayName,
  emailAddress,
  passwordFault,
  type ToAscii,
} from '../../../accounts/accounts.module.ts';
import { badField } from '../../../http/answers.ts';
import { companyName, TENANT_DEFAULTS } from '../../../workspaces/workspaces.module.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import { CHECK_YOUR_EMAIL, unnamed } from '../taken-address.ts';

export type SignUpRequest = {
  readonly email: string;
  readonly password: string;
  readonly company_name: string;
  readonly display_name?: string;
};
export type SignUp = {
  readonly email: string;
  readonly company: string;
  readonly name: string | null;
};

type SignUpRefusal =
  | { readonly refused: 'signup_disabled' | 'invalid_email' }
  | { readonly refused: NonNullable<ReturnType<typeof passwordFault>> }
  | ReturnType<typeof badField>;

/** There is no tenant yet, so the password is held to what every tenant begins with. */
export function signUpOf(
  body: SignUpRequest,
  { isOpen, toAscii }: { readonly isOpen: boolean; readonly toAscii: ToAscii },
): { readonly signUp: SignUp } | SignUpRefusal {
  if (!isOpen) return { refused: 'signup_disabled' };
  const email = emailAddress(body.email, toAscii);
  if (email === undefined) return { refused: 'invalid_email' };
  const company = companyName(body.company_name);
  const name = displayName(body.display_name ?? null);
  if (company === undefined) return badField('company_name');
  if (name === undefined) return badField('display_name');
  const fault = passwordFault(body.password, TENANT_DEFAULTS.password_policy);
  if (fault !== undefined) return { refused: fault };
  return { signUp: { email, company, name } };
}

/**
 * Tells the holder of a taken address, in their own tenant, and says nothing of who asked. Their network
 * and program were sealed for another tenant, so they do not go along.
 */
export function noticeIn(tenantId: string, command: Command): Command {
  const { ip: _ip, userAgent: _userAgent, ...metadata } = unnamed(command).metadata;
  return {
    ...command,
    id: uuidFrom(command.id, 'notice'),
    metadata: { ...metadata, tenantId },
  };
}

/** The answer for a taken address, and for whoever may not have tokens yet: the two must not be told apart. */
export const WITHOUT_TOKENS = { status: CHECK_YOUR_EMAIL, user_id: '' } as const;

export function answerOfSignUp(
  ended: Awaited<ReturnType<EndAttempt['inSession']>>,
  tenantId: string,
) {
  // A new tenant asks for no second factor.
  if (ended.status !== 'session') return { ok: WITHOUT_TOKENS };
  const { mfa_required: _mfa, ...signedIn } = ended.signedIn;
  return { ok: { ...signedIn, tenant_id: tenantId }, wrote: ended.wrote };
}

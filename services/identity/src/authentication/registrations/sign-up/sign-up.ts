/** Decides who may sign up with which data, and the response for a taken address. */
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

/** There is no tenant yet, so the rules of a new tenant apply to the password. */
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
 * Notifies the holder of a taken address in that holder's tenant, without naming the requester. The requester's network
 * and user agent were encrypted for another tenant, so they are left out.
 */
export function noticeIn(tenantId: string, command: Command): Command {
  const { ip: _ip, userAgent: _userAgent, ...metadata } = unnamed(command).metadata;
  return {
    ...command,
    id: uuidFrom(command.id, 'notice'),
    metadata: { ...metadata, tenantId },
  };
}

/** The response for a taken address and for a person who may not have tokens yet. The two must be indistinguishable. */
export const WITHOUT_TOKENS = { status: CHECK_YOUR_EMAIL, user_id: '' } as const;

export function answerOfSignUp(
  ended: Awaited<ReturnType<EndAttempt['inSession']>>,
  tenantId: string,
) {
  // A new tenant requires no second factor.
  if (ended.status !== 'session') return { ok: WITHOUT_TOKENS };
  const { mfa_required: _mfa, ...signedIn } = ended.signedIn;
  return { ok: { ...signedIn, tenant_id: tenantId }, wrote: ended.wrote };
}

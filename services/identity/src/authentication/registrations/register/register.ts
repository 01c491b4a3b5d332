/** Who may register where, and what is answered and mailed, so that a taken address does not show. */

import type { Language } from '@cardea/mail';
import {
  displayName,
  emailAddress,
  passwordFault,
  type ToAscii,
} from '../../../accounts/accounts.module.ts';
import { badField } from '../../../http/answers.ts';
import { isUniform, type TenantSettings } from '../../../workspaces/workspaces.module.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import { CHECK_YOUR_EMAIL } from '../taken-address.ts';

export type Registrant = { readonly email: string; readonly displayName: string | null };

export function registrantOf(
  body: { readonly email: string; readonly display_name?: string },
  toAscii: ToAscii,
): { readonly registrant: Registrant } | { readonly refused: 'invalid_email' } | BadField {
  const email = emailAddress(body.email, toAscii);
  if (email === undefined) return { refused: 'invalid_email' };
  const name = displayName(body.display_name ?? null);
  return name === undefined
    ? badField('display_name')
    : { registrant: { email, displayName: name } };
}
type BadField = ReturnType<typeof badField>;

/** A publishable key names a tenant as the header does; where both do, they have to agree. */
export function tenantNamed(of: {
  /** Empty where there is none. */
  readonly byHeader: string;
  /** Null: a key that is none of ours. */
  readonly byKey: string | null | undefined;
}): { readonly tenantId: string } | { readonly refused: NamingFault } {
  const { byHeader, byKey } = of;
  if (byKey === null) return { refused: 'invalid_publishable_key' };
  if (byKey !== undefined && byHeader !== '' && byHeader !== byKey) {
    return { refused: 'tenant_mismatch' };
  }
  const tenantId = byKey ?? byHeader;
  return tenantId === '' ? { refused: 'tenant_required' } : { tenantId };
}
type NamingFault = 'invalid_publishable_key' | 'tenant_mismatch' | 'tenant_required';

/** What a tenant has against a registration; undefined: nothing. */
export function objectionTo(
  password: string,
  { registration, password_policy }: Pick<TenantSettings, 'registration' | 'password_policy'>,
) {
  if (registration.mode !== 'open') return 'registration_closed';
  return passwordFault(password, password_policy);
}

/** One mail either way: to confirm the address, or to tell its owner. */
export const mailAfter = (
  outcome: 'created' | 'taken',
  of: {
    readonly email: string;
    readonly emailHash: string;
    readonly userId: string;
    readonly language: Language | undefined;
    /** The page of the authorization server that waits for the proof of the address. */
    readonly interaction?: string | undefined;
  },
) => {
  const { email, emailHash, userId, language, interaction } = of;
  if (outcome === 'taken') {
    return { purpose: 'notice', email, emailHash, userId: null, language } as const;
  }
  const at = interaction === undefined ? {} : { interaction };
  return { purpose: 'verify', email, emailHash, userId, language, ...at } as const;
};

/** What a new account would have got, too, in a tenant that tells the two apart by nothing. */
export const withoutTokens = (settings: Pick<TenantSettings, 'email_verification_required'>) =>
  settings.email_verification_required
    ? ({ status: CHECK_YOUR_EMAIL, user_id: '', verification_required: true } as const)
    : ({ status: CHECK_YOUR_EMAIL, user_id: '' } as const);

/** Whether a new account gets a session at once; a taken address then hides the appends of one. */
export const startsSession = (
  settings: Pick<TenantSettings, 'email_verification_required' | 'mfa_policy'>,
): boolean => !settings.email_verification_required && settings.mfa_policy !== 'required';

export function answerOfRegistration(
  ended: Awaited<ReturnType<EndAttempt['inSession']>>,
  { userId, settings }: { readonly userId: string; readonly settings: TenantSettings },
) {
  if (ended.status === 'refused') {
    return ended.reason === 'email_not_verified' && !isUniform(settings)
      ? ({ user_id: userId, verification_required: true } as const)
      : withoutTokens(settings);
  }
  if (ended.status === 'second_factor_due') return ended.answer;
  const { email_verified: _verified, mfa_required: _mfa, ...ok } = ended.signedIn;
  return ok;
}

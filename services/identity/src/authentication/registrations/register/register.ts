/** Decides who may register where, and the response and mail, so that a taken address is not revealed. */

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

/** A publishable key names a tenant as the header does. If both are present, they have to agree. */
export function tenantNamed(of: {
  /** Empty if there is no header. */
  readonly byHeader: string;
  /** Null if the key is not one of ours. */
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

/** The tenant's objection to a registration; undefined if there is none. */
export function objectionTo(
  password: string,
  { registration, password_policy }: Pick<TenantSettings, 'registration' | 'password_policy'>,
) {
  if (registration.mode !== 'open') return 'registration_closed';
  return passwordFault(password, password_policy);
}

/** One mail in both cases: to confirm the address, or to notify its owner. */
export const mailAfter = (
  outcome: 'created' | 'taken',
  of: {
    readonly email: string;
    readonly emailHash: string;
    readonly userId: string;
    readonly language: Language | undefined;
    /** The interaction whose page waits for the proof of the address. */
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

/** Omits the tokens that a new account gets, in tenants where new and taken addresses must get the same response. */
export const withoutTokens = (settings: Pick<TenantSettings, 'email_verification_required'>) =>
  settings.email_verification_required
    ? ({ status: CHECK_YOUR_EMAIL, user_id: '', verification_required: true } as const)
    : ({ status: CHECK_YOUR_EMAIL, user_id: '' } as const);

/** Whether a new account gets a session at once. Then a taken address costs the appends of a session, too. */
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

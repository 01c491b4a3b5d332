/** Decides who may accept an invitation with which credentials, and the response. */
import {
  displayName,
  type Invitation,
  type Joined,
  passwordFault,
} from '../../../accounts/accounts.module.ts';
import { badField } from '../../../http/answers.ts';
import type { TenantSettings } from '../../../workspaces/workspaces.module.ts';

export type AcceptRequest = {
  readonly password?: string;
  readonly display_name?: string;
};

export type Acceptance = {
  /** Null if they sign in by other methods. */
  readonly password: string | null;
  readonly displayName: string | null;
};

type AcceptanceFault =
  | { readonly refused: NonNullable<ReturnType<typeof passwordFault>> }
  | ReturnType<typeof badField>;

export function acceptanceOf(
  body: AcceptRequest,
  { password_policy }: Pick<TenantSettings, 'password_policy'>,
): { readonly acceptance: Acceptance } | AcceptanceFault {
  const { password = null } = body;
  const name = displayName(body.display_name ?? null);
  if (name === undefined) return badField('display_name');
  const fault = password === null ? undefined : passwordFault(password, password_policy);
  return fault === undefined ? { acceptance: { password, displayName: name } } : { refused: fault };
}

export const INVALID_INVITATION = { refused: 'invalid_invitation' } as const;
export const INVITATION_EXPIRED = { refused: 'invitation_expired' } as const;

/**
 * The account of a user whom an administrator created may always be taken over. A new account may not, if the tenant
 * was closed for sign-ups since.
 */
export function objectionTo(
  invitation: Invitation,
  { registration }: Pick<TenantSettings, 'registration'>,
) {
  if (invitation.status === 'none') return INVALID_INVITATION;
  return invitation.invitedBy !== null && registration.mode === 'closed'
    ? ({ refused: 'registration_closed' } as const)
    : undefined;
}

export function refusalOf({ refused }: Extract<Joined, { refused: string }>) {
  switch (refused) {
    case 'email_already_exists':
      return { refused } as const;
    case 'expired':
      return INVITATION_EXPIRED;
    case 'invalid':
      return INVALID_INVITATION;
  }
}

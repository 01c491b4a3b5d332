/** Finds what is wrong with a requested account, in the order in which it is reported. */

import { badField } from '../../../http/answers.ts';
import { avatarUrl, displayName } from '../../../http/profile-fields.ts';
import { type Administrator, mayGiveRoles } from '../../../ranks/ranks.ts';
import type { TenantSettings } from '../../../workspaces/workspaces.module.ts';
import { passwordFault } from '../../passwords/passwords.ts';
import { unknownRoles } from '../administrator.ts';

export type NewUserRequest = {
  readonly password?: string;
  readonly display_name?: string | null;
  readonly avatar_url?: string | null;
  readonly roles?: readonly string[];
  readonly send_invitation?: boolean;
};

export function objectionTo(
  { password, roles = [], send_invitation: isInvited = false, ...profile }: NewUserRequest,
  of: {
    readonly by: Administrator;
    readonly settings: Pick<TenantSettings, 'password_policy' | 'roles'>;
  },
) {
  if (displayName(profile.display_name ?? null) === undefined) return badField('display_name');
  if (avatarUrl(profile.avatar_url ?? null) === undefined) return badField('avatar_url');
  // An invited person chooses their own password.
  if (isInvited && password !== undefined) return badField('send_invitation', 'without password');
  const unknown = unknownRoles(of.settings, roles);
  if (unknown !== undefined) return unknown;
  if (!mayGiveRoles(of.by, roles)) return { refused: 'forbidden' } as const;
  const fault =
    password === undefined ? undefined : passwordFault(password, of.settings.password_policy);
  return fault === undefined ? undefined : ({ refused: fault } as const);
}

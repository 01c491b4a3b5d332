/** What the administrators' endpoints on accounts have in common: shapes, callers, ranks. */
import type { Principal } from '@cardea/auth';
import { NullableTime, named, Time } from '@cardea/contracts';
import Type from 'typebox';
import { closed, profileFields } from '../../../http/answers.ts';
import type { TenantSettings } from '../../../workspaces/workspaces.module.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { hasSecondFactor } from '../second-factors.ts';
import { type ExistingUser, ROLES, rankOf } from '../user.ts';
import type { AdminUser } from './admin-users.ts';
import type { Administrator } from './administer.ts';

type Dependencies = {
  readonly userDirectory: Pick<UserDirectory, 'open'>;
};

export const Status = named('UserStatus', Type.Enum(['active', 'disabled']));
export const Roles = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
});
export const AdminUserShape = named(
  'User',
  closed({
    ...profileFields,
    status: Type.String(),
    vouched: Type.Boolean(),
    mfa_enabled: Type.Boolean(),
    last_login_at: NullableTime,
    identities: Type.Array(Type.String()),
    updated_at: Time,
  }),
);
export const Id = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });
export const COMMON = { tag: 'Administration', tenant: 'required', area: 'admin' } as const;
export const READS = ['admin', 'api_key:users:read'] as const;
export const WRITES = ['admin', 'api_key:users:write'] as const;

/** A key ranks as a member, whatever its scopes and whoever created it. */
export const administratorOf = (principal: Principal | undefined): Administrator =>
  principal?.kind === 'user'
    ? { rank: rankOf(principal.roles), isKey: false }
    : { rank: rankOf(['member']), isKey: true };

export function areKnownRoles(
  settings: Pick<TenantSettings, 'roles'>,
  roles: readonly string[],
): boolean {
  const known = new Set<string>([...ROLES, ...settings.roles]);
  return roles.every((role) => known.has(role));
}

/** Read from the stream, so it does not depend on the table. Only sign-ins are read from the table. */
export async function shown(
  needs: Pick<Dependencies, 'userDirectory'>,
  user: ExistingUser,
  lastLoginAt: string | null = null,
) {
  const opened = await needs.userDirectory.open(user);
  const shape: AdminUser = {
    id: user.id,
    email: opened.email ?? '',
    email_verified: user.emailVerified,
    display_name: opened.displayName,
    avatar_url: opened.avatarUrl,
    roles: [...user.roles],
    created_at: user.createdAt,
    status: user.status,
    vouched: user.vouched,
    mfa_enabled: hasSecondFactor(user),
    last_login_at: lastLoginAt,
    identities: [],
    updated_at: user.updatedAt,
  };
  return shape;
}

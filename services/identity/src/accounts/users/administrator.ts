/** What stands above an administrator in their tenant: accounts of a higher rank, and roles that nobody has. */
import { type Administrator, ROLES, rankOf } from '../../ranks/ranks.ts';
import type { TenantSettings } from '../../workspaces/workspaces.module.ts';
import type { ExistingUser } from './user.ts';

/** Whether an administrator may do nothing to this user. */
export const outranks = (user: ExistingUser, by: Administrator): boolean =>
  rankOf(user.roles) > by.rank;

type Roles = Pick<TenantSettings, 'roles'>;

export const areKnownRoles = (settings: Roles, roles: readonly string[]): boolean =>
  unknownRoles(settings, roles) === undefined;

/** Names each unknown role by its place, and all roles of the tenant. */
export function unknownRoles(settings: Roles, roles: readonly string[]) {
  const allowed: readonly string[] = [...ROLES, ...settings.roles];
  const details = roles.flatMap((role, index) =>
    allowed.includes(role) ? [] : [{ field: `roles.${index}`, rule: 'unknown', allowed }],
  );
  return details.length === 0 ? undefined : ({ refused: 'unknown_role', details } as const);
}

/** Checks an administrator's limits: accounts of a higher rank, and roles that do not exist. */
import { type Administrator, ROLES, rankOf } from '../../ranks/ranks.ts';
import type { TenantSettings } from '../../workspaces/workspaces.module.ts';
import type { ExistingUser } from './user.ts';

/** Whether the user has a higher rank than the administrator, who then may do nothing to them. */
export const outranks = (user: ExistingUser, by: Administrator): boolean =>
  rankOf(user.roles) > by.rank;

type Roles = Pick<TenantSettings, 'roles'>;

export const areKnownRoles = (settings: Roles, roles: readonly string[]): boolean =>
  unknownRoles(settings, roles) === undefined;

/** Names each unknown role by its index, and lists all roles of the tenant. */
export function unknownRoles(settings: Roles, roles: readonly string[]) {
  const allowed: readonly string[] = [...ROLES, ...settings.roles];
  const details = roles.flatMap((role, index) =>
    allowed.includes(role) ? [] : [{ field: `roles.${index}`, rule: 'unknown', allowed }],
  );
  return details.length === 0 ? undefined : ({ refused: 'unknown_role', details } as const);
}

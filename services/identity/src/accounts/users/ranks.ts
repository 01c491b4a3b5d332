/** Which roles are above which. */
import type { User } from './user.ts';

/** The built-in roles, each above those before it; a tenant's own roles rank with `member`. */
export const ROLES = ['member', 'admin', 'owner', 'system_admin'] as const;

const ADMIN_ROLES: readonly string[] = ROLES.filter((role) => role !== 'member');

/** Whether a user with these roles may do less than with the earlier ones. */
export const isDemotion = (before: readonly string[], after: readonly string[]): boolean =>
  before.some((role) => ADMIN_ROLES.includes(role) && !after.includes(role));

/** Whether the user counts as one of the tenant's administrators. */
export const isActiveAdmin = (user: User): boolean =>
  user.status === 'active' && user.roles.some((role) => ADMIN_ROLES.includes(role));

export const rankOf = (roles: readonly string[]): number =>
  Math.max(0, ...roles.map((role) => (ROLES as readonly string[]).indexOf(role)));

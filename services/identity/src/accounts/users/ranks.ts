/** Which users count as administrators, and which changes end that. */
import { ROLES } from '../../ranks/ranks.ts';
import type { User } from './user.ts';

const ADMIN_ROLES: readonly string[] = ROLES.filter((role) => role !== 'member');

/** Whether a user with these roles may do less than with the previous ones. */
export const isDemotion = (before: readonly string[], after: readonly string[]): boolean =>
  before.some((role) => ADMIN_ROLES.includes(role) && !after.includes(role));

/** Whether the user counts as one of the tenant's administrators. */
export const isActiveAdmin = (user: User): boolean =>
  user.status === 'active' && user.roles.some((role) => ADMIN_ROLES.includes(role));

/**
 * Which roles are above which, and what somebody of a rank may give: nothing above the own. An API key ranks as
 * a member, whatever its scopes and whoever created it; a machine by its own roles, and like a key it gives no role.
 */
import type { Principal } from '@cardea/auth';
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';

/** The built-in roles, each above those before it; a tenant's own roles rank with `member`. */
export const ROLES = ['member', 'admin', 'owner', 'system_admin'] as const;

export const rankOf = (roles: readonly string[]): number =>
  Math.max(0, ...roles.map((role) => (ROLES as readonly string[]).indexOf(role)));

/** `isKey`: an API key or a machine, and no person. */
export type Administrator = { readonly rank: number; readonly isKey: boolean };

export function administratorOf(principal: Principal | undefined): Administrator {
  switch (principal?.kind) {
    case 'user':
      return { rank: rankOf(principal.roles), isKey: false };
    case 'client':
      return { rank: rankOf(principal.roles), isKey: true };
    default:
      return { rank: rankOf(['member']), isKey: true };
  }
}

/** Roles that somebody of this rank may give to an account that has none, or take back with an invitation. */
export const mayGiveRoles = (by: Administrator, roles: readonly string[]): boolean =>
  mayChangeRoles(by, [], roles);

export function mayChangeRoles(
  by: Administrator,
  before: readonly string[],
  after: readonly string[],
): boolean {
  const isMember = (role: string) => role === 'member';
  return by.isKey
    ? [...added(before, after), ...added(after, before)].every(isMember)
    : rankOf(after) <= by.rank;
}

export const added = (before: readonly string[], after: readonly string[]): readonly string[] =>
  after.filter((role) => !before.includes(role));

/**
 * Whether nobody of the tenant is above this rank. What acts for whoever signs in, or decides how everybody
 * signs in, is changed by these alone. `system_admin` is a role of the deployment's own tenant only.
 */
export const isHighestIn = (tenantId: string, by: Administrator): boolean =>
  by.rank >= rankOf(tenantId === BOOTSTRAP_TENANT_ID ? ['system_admin'] : ['owner']);

/**
 * The order of roles, and the roles that a caller of a rank may give: none above their own. An API key ranks as a
 * member, whatever its scopes and its creator. A machine ranks by its roles and, like a key, gives no role.
 */
import type { Principal } from '@cardea/auth';
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';

/** The built-in roles, each above those before it; a tenant's own roles rank with `member`. */
export const ROLES = ['member', 'admin', 'owner', 'system_admin'] as const;

export const rankOf = (roles: readonly string[]): number =>
  Math.max(0, ...roles.map((role) => (ROLES as readonly string[]).indexOf(role)));

/** `isKey`: the caller is an API key or a machine, not a person. */
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

/**
 * Whether a caller of this rank may give the roles to an account that has none, or withdraw an invitation with them.
 */
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
 * Whether nobody in the tenant has a higher rank. Only such callers may change applications that act for any user, or
 * settings that decide how everybody signs in. The role `system_admin` exists in the deployment's own tenant only.
 */
export const isHighestIn = (tenantId: string, by: Administrator): boolean =>
  by.rank >= rankOf(tenantId === BOOTSTRAP_TENANT_ID ? ['system_admin'] : ['owner']);

/**
 * What administrators may give and take: roles up to their own rank. An API key ranks as a member, whatever
 * its scopes and whoever created it.
 */
import type { Principal } from '@cardea/auth';
import type { TenantSettings } from '../../workspaces/workspaces.module.ts';
import { ROLES, rankOf } from './ranks.ts';
import type { ExistingUser } from './user.ts';

export type Administrator = { readonly rank: number; readonly isKey: boolean };

export const administratorOf = (principal: Principal | undefined): Administrator =>
  principal?.kind === 'user'
    ? { rank: rankOf(principal.roles), isKey: false }
    : { rank: rankOf(['member']), isKey: true };

/** Whether an administrator may do nothing to this user. */
export const outranks = (user: ExistingUser, by: Administrator): boolean =>
  rankOf(user.roles) > by.rank;

/** Roles that somebody of this rank may give to an account that has none. */
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

export function areKnownRoles(
  settings: Pick<TenantSettings, 'roles'>,
  roles: readonly string[],
): boolean {
  const known = new Set<string>([...ROLES, ...settings.roles]);
  return roles.every((role) => known.has(role));
}

/**
 * What an administrator may do with an account: change it, give roles up to their own, vouch for it,
 * disable, enable and delete it. An API key ranks as a member and can neither give roles, remove them nor
 * vouch.
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { type Administrator, added, mayChangeRoles, outranks } from '../administrator.ts';
import { isActiveAdmin, isDemotion } from '../ranks.ts';
import { type ExistingUser, exists, type User, type UserEvent } from '../user.ts';

export type Administer = {
  readonly by: Administrator;
  readonly displayName?: Sealed | null;
  readonly avatarUrl?: Sealed | null;
  readonly roles?: readonly string[];
  readonly vouched?: boolean;
  readonly status?: 'active' | 'disabled';
  /** Another administrator remains, and the tenant's list marks this one as leaving. */
  readonly mayLeave: boolean;
  /** Unix seconds: access tokens issued from then on contain the new rank. */
  readonly tokensBefore: number;
  readonly now: Date;
};

/** `leaves`: removes an administrator, so the tenant's list has to be marked first. */
export type AdministerRefusal = 'not_found' | 'forbidden' | 'leaves';

export function administer(
  command: Administer,
  user: User,
): Decision<UserEvent, AdministerRefusal> {
  if (!exists(user)) return refuse('not_found');
  const { by, roles, vouched, status } = command;
  if (outranks(user, by)) return refuse('forbidden');
  if (roles !== undefined && !mayChangeRoles(by, user.roles, roles)) return refuse('forbidden');
  if (vouched !== undefined && by.isKey) return refuse('forbidden');
  const left = { ...user, roles: roles ?? user.roles, status: status ?? user.status };
  if (isActiveAdmin(user) && !isActiveAdmin(left) && !command.mayLeave) return refuse('leaves');
  return accept(
    ...profileChange(command, user.id),
    ...rolesChange(command, user),
    ...vouchChange(command, user),
    ...statusChange(command, user),
  );
}

export function deleteUser(
  { by, mayLeave, now }: Pick<Administer, 'by' | 'mayLeave' | 'now'>,
  user: User,
): Decision<UserEvent, AdministerRefusal> {
  if (!exists(user)) return refuse('not_found');
  if (outranks(user, by)) return refuse('forbidden');
  if (isActiveAdmin(user) && !mayLeave) return refuse('leaves');
  return accept({
    type: 'UserDeleted',
    data: { id: user.id, email_hash: user.emailHash, deleted_at: now.toISOString() },
  });
}

function profileChange({ displayName, avatarUrl, now }: Administer, id: string): UserEvent[] {
  if (displayName === undefined && avatarUrl === undefined) return [];
  const data = {
    id,
    ...(displayName === undefined ? {} : { display_name: displayName }),
    ...(avatarUrl === undefined ? {} : { avatar_url: avatarUrl }),
    at: now.toISOString(),
  };
  return [{ type: 'ProfileChanged', data }];
}

function rolesChange({ roles, tokensBefore, now }: Administer, user: ExistingUser): UserEvent[] {
  if (roles === undefined) return [];
  if (added(user.roles, roles).length + added(roles, user.roles).length === 0) return [];
  const ends = isDemotion(user.roles, roles)
    ? { tokens_before: Math.max(tokensBefore, user.tokensBefore) }
    : {};
  return [{ type: 'RolesChanged', data: { id: user.id, roles, ...ends, at: now.toISOString() } }];
}

/** Giving a role to a user vouches for them, unless the same request says otherwise. */
function vouchChange({ by, roles, vouched, now }: Administer, user: ExistingUser): UserEvent[] {
  const isGivenRole = added(user.roles, roles ?? []).some((role) => role !== 'member') && !by.isKey;
  const after = vouched ?? (user.vouched || isGivenRole);
  if (after === user.vouched) return [];
  const data = { id: user.id, at: now.toISOString() };
  return [{ type: after ? 'UserVouched' : 'VouchWithdrawn', data }];
}

function statusChange({ status, now }: Administer, user: ExistingUser): UserEvent[] {
  if (status === undefined || status === user.status) return [];
  const at = now.toISOString();
  return status === 'disabled'
    ? [{ type: 'UserDisabled', data: { id: user.id, epoch: user.epoch + 1, at } }]
    : [{ type: 'UserEnabled', data: { id: user.id, at } }];
}

/**
 * What an administrator may do to an account: give roles up to their own, close it, open it, delete it.
 * A tenant keeps its last administrator.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { exists, rankOf, type User, type UserEvent } from '../user.ts';

const ADMIN_RANK = rankOf(['admin']);

export type Administer = {
  /** Of the caller; a key without roles ranks as an administrator. */
  readonly rank: number;
  readonly roles?: readonly string[];
  readonly status?: 'active' | 'disabled';
  /** No other active administrator is left in the tenant. */
  readonly isLastAdmin: boolean;
  readonly now: Date;
};

export type AdministerRefusal = 'not_found' | 'forbidden' | 'last_admin';

export function administer(
  { rank, roles, status, isLastAdmin, now }: Administer,
  user: User,
): Decision<UserEvent, AdministerRefusal> {
  if (!exists(user)) return refuse('not_found');
  const refusal = refusalTo(rank, user);
  if (refusal !== undefined) return refuse(refusal);
  if (roles !== undefined && rankOf(roles) > rank) return refuse('forbidden');
  const losesAdmin = roles !== undefined && rankOf(roles) < ADMIN_RANK;
  if (isLastAdmin && isAdmin(user) && (losesAdmin || status === 'disabled')) {
    return refuse('last_admin');
  }

  const at = now.toISOString();
  const events: UserEvent[] = [];
  if (roles !== undefined && !sameRoles(roles, user.roles)) {
    events.push({ type: 'RolesChanged', data: { id: user.id, roles, at } });
  }
  if (status === 'disabled' && user.status === 'active') {
    events.push({ type: 'UserDisabled', data: { id: user.id, epoch: user.epoch + 1, at } });
  }
  if (status === 'active' && user.status === 'disabled') {
    events.push({ type: 'UserEnabled', data: { id: user.id, at } });
  }
  return accept(...events);
}

export function deleteUser(
  { rank, isLastAdmin, now }: Pick<Administer, 'rank' | 'isLastAdmin' | 'now'>,
  user: User,
): Decision<UserEvent, AdministerRefusal> {
  if (!exists(user)) return refuse('not_found');
  const refusal = refusalTo(rank, user);
  if (refusal !== undefined) return refuse(refusal);
  if (isLastAdmin && isAdmin(user)) return refuse('last_admin');
  return accept({
    type: 'UserDeleted',
    data: { id: user.id, email_hash: user.emailHash, deleted_at: now.toISOString() },
  });
}

const refusalTo = (rank: number, user: { readonly roles: readonly string[] }) =>
  rankOf(user.roles) > rank ? 'forbidden' : undefined;

const isAdmin = (user: { readonly roles: readonly string[]; readonly status: string }) =>
  user.status === 'active' && rankOf(user.roles) >= ADMIN_RANK;

const sameRoles = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((role) => other.includes(role));

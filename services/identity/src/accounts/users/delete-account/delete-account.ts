/**
 * A person schedules the deletion of their account. The tenant's settings determine the day, and the person can cancel
 * before it. Their other sessions end at once, so that nobody else uses the account until then.
 */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { isActiveAdmin } from '../ranks.ts';
import { exists, type KeptSession, keptSid, type User, type UserEvent } from '../user.ts';

const DAY_MS = 24 * 3600_000;

export type ScheduleDeletion = {
  readonly waitDays: number;
  readonly session: KeptSession | null;
  /** How many other sessions it ends, according to the table. */
  readonly count: number;
  /** True if another administrator remains. */
  readonly mayLeave: boolean;
  readonly now: Date;
};

/**
 * Schedules the deletion. `leaves`: decide again with `mayLeave` after another administrator was found. A second
 * request changes nothing.
 */
export function scheduleDeletion(
  { waitDays, session, count, mayLeave, now }: ScheduleDeletion,
  user: User,
): Decision<UserEvent, 'not_found' | 'leaves'> {
  if (user.status !== 'active') return refuse('not_found');
  if (isActiveAdmin(user) && !mayLeave) return refuse('leaves');
  if ((user.deleteAt ?? null) !== null) return accept();
  const { id, epoch } = user;
  const at = now.toISOString();
  const deleteAt = new Date(now.getTime() + waitDays * DAY_MS).toISOString();
  return accept<UserEvent>(
    {
      type: 'SessionsRevoked',
      data: { id, epoch: epoch + 1, keep_sid: keptSid(user, session), count, at },
    },
    { type: 'DeletionScheduled', data: { id, delete_at: deleteAt, at } },
  );
}

export function cancelDeletion(
  { by, now }: { readonly by: 'user' | 'system'; readonly now: Date },
  user: User,
): Decision<UserEvent, never> {
  if (!exists(user) || (user.deleteAt ?? null) === null) return accept();
  const data = { id: user.id, by, at: now.toISOString() };
  return accept({ type: 'DeletionCancelled', data });
}

export function remindOfDeletion(
  { now }: { readonly now: Date },
  user: User,
): Decision<UserEvent, never> {
  if (!exists(user)) return accept();
  const { id, deleteAt = null } = user;
  if (deleteAt === null) return accept();
  return accept({
    type: 'DeletionReminded',
    data: { id, delete_at: deleteAt, at: now.toISOString() },
  });
}

/** Deletes the account on its day, with the same result as a deletion by an administrator. */
export function deleteOnTheDay(
  { mayLeave, now }: { readonly mayLeave: boolean; readonly now: Date },
  user: User,
): Decision<UserEvent, 'not_found' | 'leaves'> {
  if (!exists(user)) return refuse('not_found');
  const { id, emailHash: email_hash, deleteAt = null } = user;
  if (deleteAt === null || now < new Date(deleteAt)) return refuse('not_found');
  if (isActiveAdmin(user) && !mayLeave) return refuse('leaves');
  return accept({ type: 'UserDeleted', data: { id, email_hash, deleted_at: now.toISOString() } });
}

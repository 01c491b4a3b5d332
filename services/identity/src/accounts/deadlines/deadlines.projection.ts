/** Maintains `account_deadlines`: the deadlines of accounts that `meet_deadlines` acts on. */
import { projection, table } from '@cardea/read-models';
import { forgetUserAndTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import { PREVIOUS_EMAIL_MS } from '../users/emails-of-user.ts';
import type { UserEvent } from '../users/user.ts';

export type DeadlineKind =
  | 'previous_email'
  | 'email_change'
  | 'email_change_reminder'
  | 'deletion'
  | 'deletion_reminder';

const DAY_MS = 24 * 3600_000;
const EMAIL_CHANGE_REMINDER_MS = DAY_MS;
const DELETION_REMINDER_MS = 3 * DAY_MS;

const rows = table('account_deadlines', {
  key: ['user_id', 'kind', 'name'],
  columns: {
    user_id: 'text',
    kind: 'text',
    name: 'text',
    tenant_id: 'text',
    due_at: 'timestamptz',
  },
});

const keyOf = (userId: string, kind: DeadlineKind, name = '') => ({ user_id: userId, kind, name });

const noEmailChange = (id: string) => [
  rows.remove(keyOf(id, 'email_change')),
  rows.remove(keyOf(id, 'email_change_reminder')),
];
const noDeletion = (id: string) => [
  rows.remove(keyOf(id, 'deletion')),
  rows.remove(keyOf(id, 'deletion_reminder')),
];

export const deadlinesProjection = projection<UserEvent | TenantDeleted>()({
  name: 'account_deadlines',
  log: 'identity',
  tables: [rows],
  on: {
    EmailChangeRequested: ({ data: { id, effective_at: effectiveAt }, metadata: { tenantId } }) => {
      if (effectiveAt === null) return noEmailChange(id);
      const near = later(effectiveAt, -EMAIL_CHANGE_REMINDER_MS);
      return [
        rows.put({ ...keyOf(id, 'email_change'), tenant_id: tenantId, due_at: effectiveAt }),
        rows.put({ ...keyOf(id, 'email_change_reminder'), tenant_id: tenantId, due_at: near }),
      ];
    },
    EmailChangeReminded: ({ data: { id } }) => [rows.remove(keyOf(id, 'email_change_reminder'))],
    EmailChangeStopped: ({ data: { id } }) => noEmailChange(id),
    EmailChanged: ({ data: { id, previous_hash, email_hash, at }, metadata: { tenantId } }) => [
      ...noEmailChange(id),
      rows.remove(keyOf(id, 'previous_email', email_hash)),
      rows.put({
        ...keyOf(id, 'previous_email', previous_hash),
        tenant_id: tenantId,
        due_at: later(at, PREVIOUS_EMAIL_MS),
      }),
    ],
    EmailReleased: ({ data: { id, email_hash } }) => [
      rows.remove(keyOf(id, 'previous_email', email_hash)),
    ],
    DeletionScheduled: ({ data: { id, delete_at: deleteAt, at }, metadata: { tenantId } }) => {
      const near = later(deleteAt, -DELETION_REMINDER_MS);
      const day = rows.put({ ...keyOf(id, 'deletion'), tenant_id: tenantId, due_at: deleteAt });
      const reminder = keyOf(id, 'deletion_reminder');
      // The person has just been notified of a day that is at least as near.
      return new Date(near) <= new Date(at)
        ? [day, rows.remove(reminder)]
        : [day, rows.put({ ...reminder, tenant_id: tenantId, due_at: near })];
    },
    DeletionReminded: ({ data: { id } }) => [rows.remove(keyOf(id, 'deletion_reminder'))],
    DeletionCancelled: ({ data: { id } }) => noDeletion(id),
    AccountReclaimed: ({ data: { id } }) => [...noEmailChange(id), ...noDeletion(id)],
  },
  apply: forgetUserAndTenantIn('account_deadlines'),
});

const later = (at: string, ms: number): string =>
  new Date(new Date(at).getTime() + ms).toISOString();

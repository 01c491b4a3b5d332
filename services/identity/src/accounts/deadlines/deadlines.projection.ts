/** Maintains `account_deadlines`: what becomes of accounts at a later time, for `meet_deadlines`. */
import { projection, table } from '@cardea/read-models';
import { forgetUserAndTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import { PREVIOUS_EMAIL_MS } from '../users/emails-of-user.ts';
import { type UserEvent, whileUserStays } from '../users/user.ts';

export type DeadlineKind = 'previous_email';

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

export const deadlinesProjection = projection<UserEvent | TenantDeleted>()({
  name: 'account_deadlines',
  log: 'identity',
  tables: [rows],
  on: {
    ...whileUserStays('nothing becomes due by it'),
    EmailChanged: ({ data: { id, previous_hash, email_hash, at }, metadata: { tenantId } }) => [
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
  },
  apply: forgetUserAndTenantIn('account_deadlines'),
});

const later = (at: string, ms: number): string =>
  new Date(new Date(at).getTime() + ms).toISOString();

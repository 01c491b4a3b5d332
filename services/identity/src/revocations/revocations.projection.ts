/** Maintains `revocations`, from which the shared cache is filled again after it was lost. */
import type { RecordedEvent } from '@cardea/event-store';
import { orNull, projection, type TableChange, table } from '@cardea/read-models';
import { type RevokingEvent, revocationsOf } from './revocation-rules.ts';

const rows = table('revocations', {
  key: ['kind', 'id'],
  columns: {
    kind: 'text',
    id: 'text',
    tenant_id: 'text',
    marked_at: 'timestamptz',
    tokens_before: orNull('bigint'),
  },
});

/** The entries that the rules derive from an event's own ids. All other entries come from other tables. */
const kept = (event: RecordedEvent): readonly TableChange[] =>
  revocationsOf([event]).flatMap((one): readonly TableChange[] => {
    if ('lift' in one) return [rows.remove({ kind: one.lift, id: one.id })];
    if (!('list' in one)) return [];
    return [
      rows.put({
        kind: one.list,
        id: one.id,
        tenant_id: event.metadata.tenantId,
        marked_at: event.time.toISOString(),
        tokens_before: one.before ?? null,
      }),
    ];
  });

export const revocationsProjection = projection<RevokingEvent>()({
  name: 'revocations',
  log: 'identity',
  tables: [rows],
  on: {
    TenantClosed: kept,
    PasswordSet: kept,
    EmailChanged: kept,
    SessionsRevoked: kept,
    UserDisabled: kept,
    UserDeleted: kept,
    UserEnabled: kept,
    RolesChanged: kept,
    AccountReclaimed: kept,
    SessionRevoked: kept,
    AgentSuspended: kept,
    AgentDeleted: kept,
    AgentResumed: kept,
    ApiKeyRevoked: kept,
    ConsentRevoked: kept,
    ApplicationChanged: kept,
    ClientSecretRotated: kept,
    ApplicationDeleted: kept,
    AgentKeyRevoked: kept,
    AgentSessionEnded: kept,
  },
});

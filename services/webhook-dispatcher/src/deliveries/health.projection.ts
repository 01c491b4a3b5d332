/** Keeps table `health`. Each row follows from the row before, so that rows are read and written per batch. */
import { ignoring, type Recorded } from '@cardea/event-store';
import { orNull, projection, type Transaction, table } from '@cardea/read-models';
import type { WebhookChanged, WebhookDeleted, WebhookFact } from '../webhooks/webhooks.module.ts';
import { webhookIdOf } from '../webhooks/webhooks.module.ts';
import type { DeliveryAttemptFact, DeliveryFact } from './delivery.ts';
import { afresh, afterAttempt, type Health, WELL } from './health.ts';

const healthRows = table('health', {
  key: ['webhook_id'],
  columns: {
    webhook_id: 'uuid',
    tenant_id: 'text',
    failing_since: orNull('timestamptz'),
    failures: 'integer',
    unanswered: 'integer',
    last_success_at: orNull('timestamptz'),
  },
});

export const healthTable = (onCommitted: () => void) =>
  projection<DeliveryFact | WebhookFact>()({
    name: 'health',
    log: 'webhooks',
    tables: [healthRows],
    on: {
      ...ignoring(
        'a webhook that nothing was sent to is well',
        'WebhookCreated',
        'DeliveryScheduled',
        'DeliveryCancelled',
      ),
      ...ignoring('it says nothing of attempts', 'SecretRotated', 'WebhookAutoDisabled'),
    },
    apply: {
      on: [
        'DeliveryAttempted',
        'DeliverySucceeded',
        'DeliveryFailed',
        'WebhookChanged',
        'WebhookDeleted',
      ],
      run: (sql, events, { schema }) => apply(sql, events, schema),
    },
    onCommitted,
  });

type Event = Recorded<DeliveryAttemptFact | WebhookChanged | WebhookDeleted>;
type Fact =
  | { readonly kind: 'attempt'; readonly attempt: Parameters<typeof afterAttempt>[1] }
  | { readonly kind: 'enabled' }
  | { readonly kind: 'deleted' };
type About = { readonly webhookId: string; readonly tenantId: string; readonly fact: Fact };

function read({ type, data, streamId, metadata }: Event): About | undefined {
  const { tenantId } = metadata;
  switch (type) {
    case 'DeliveryAttempted':
    case 'DeliverySucceeded':
    case 'DeliveryFailed': {
      const attempt = {
        success: type === 'DeliverySucceeded',
        status: data.status_code,
        startedAt: data.started_at,
      };
      return { webhookId: data.webhook_id, tenantId, fact: { kind: 'attempt', attempt } };
    }
    case 'WebhookChanged':
      if (data.enabled !== true) return undefined;
      return { webhookId: webhookIdOf(streamId), tenantId, fact: { kind: 'enabled' } };
    case 'WebhookDeleted':
      return { webhookId: webhookIdOf(streamId), tenantId, fact: { kind: 'deleted' } };
  }
}

async function apply(sql: Transaction, events: readonly Event[], schema: string): Promise<void> {
  const about = events.map(read).filter((each) => each !== undefined);
  if (about.length === 0) return;
  const rows = await standing(sql, [...new Set(about.map(({ webhookId }) => webhookId))], schema);
  const deleted = new Set<string>();
  for (const { webhookId, tenantId, fact } of about) {
    const health = rows.get(webhookId)?.health ?? WELL;
    switch (fact.kind) {
      case 'attempt':
        rows.set(webhookId, { tenantId, health: afterAttempt(health, fact.attempt) });
        break;
      case 'enabled':
        rows.set(webhookId, { tenantId, health: afresh(health) });
        break;
      case 'deleted':
        rows.delete(webhookId);
        deleted.add(webhookId);
    }
  }
  await write(sql, rows, schema);
  // What follows a deletion is applied as if it had come in a batch of its own.
  const gone = [...deleted].filter((id) => !rows.has(id));
  if (gone.length === 0) return;
  await sql.query(`DELETE FROM ${schema}.health WHERE webhook_id = ANY($1::uuid[])`, [gone]);
}

type Rows = Map<string, { readonly tenantId: string; readonly health: Health }>;

async function standing(sql: Transaction, ids: readonly string[], schema: string): Promise<Rows> {
  const { rows } = await sql.query<{
    webhook_id: string;
    tenant_id: string;
    failing_since: Date | null;
    failures: number;
    unanswered: number;
    last_success_at: Date | null;
  }>(`SELECT * FROM ${schema}.health WHERE webhook_id = ANY($1::uuid[])`, [ids]);
  return new Map(
    rows.map((row) => [
      row.webhook_id,
      {
        tenantId: row.tenant_id,
        health: {
          failingSince: row.failing_since?.toISOString() ?? null,
          failures: row.failures,
          unanswered: row.unanswered,
          lastSuccessAt: row.last_success_at?.toISOString() ?? null,
        },
      },
    ]),
  );
}

async function write(sql: Transaction, rows: Rows, schema: string): Promise<void> {
  if (rows.size === 0) return;
  const all = [...rows].map(([webhook_id, { tenantId, health }]) => ({
    webhook_id,
    tenant_id: tenantId,
    failing_since: health.failingSince,
    failures: health.failures,
    unanswered: health.unanswered,
    last_success_at: health.lastSuccessAt,
  }));
  await sql.query(
    `INSERT INTO ${schema}.health AS h
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS row(webhook_id uuid, tenant_id text,
       failing_since timestamptz, failures integer, unanswered integer,
       last_success_at timestamptz)
     ON CONFLICT (webhook_id) DO UPDATE SET failing_since = excluded.failing_since,
       failures = excluded.failures, unanswered = excluded.unanswered,
       last_success_at = excluded.last_success_at`,
    [JSON.stringify(all)],
  );
}

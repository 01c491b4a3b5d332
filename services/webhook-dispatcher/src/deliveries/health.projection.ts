/**
 * Maintains table `health`. Each row depends on its previous state: a batch is merged into one change per webhook, and
 * a single statement applies the changes to the stored rows.
 */
import type { Recorded } from '@cardea/event-store';
import { orNull, projection, type Statement, table } from '@cardea/read-models';
import type { WebhookChanged, WebhookDeleted, WebhookFact } from '../webhooks/webhooks.module.ts';
import { webhookIdOf } from '../webhooks/webhooks.module.ts';
import type { DeliveryAttemptFact, DeliveryFact } from './delivery.ts';
import { type HealthChange, type HealthFact, healthAfter, NO_CHANGE } from './health.ts';

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
    on: {},
    apply: {
      on: [
        'DeliveryAttempted',
        'DeliverySucceeded',
        'DeliveryFailed',
        'WebhookChanged',
        'WebhookDeleted',
      ],
      statements: (events, { schema }) => changesOf(events, schema),
    },
    onCommitted,
  });

type Event = Recorded<DeliveryAttemptFact | WebhookChanged | WebhookDeleted>;
type About = { readonly webhookId: string; readonly tenantId: string } & (
  | { readonly fact: HealthFact }
  | { readonly fact: 'deleted' }
);

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
      return { webhookId: data.webhook_id, tenantId, fact: attempt };
    }
    case 'WebhookChanged':
      if (data.enabled !== true) return undefined;
      return { webhookId: webhookIdOf(streamId), tenantId, fact: 'enabled' };
    case 'WebhookDeleted':
      return { webhookId: webhookIdOf(streamId), tenantId, fact: 'deleted' };
  }
}

type Changes = Map<string, { readonly tenantId: string; readonly change: HealthChange }>;

function changesOf(events: readonly Event[], schema: string): readonly Statement[] {
  const changes: Changes = new Map();
  const deleted = new Set<string>();
  for (const about of events.map(read)) {
    if (about === undefined) continue;
    const { webhookId, tenantId, fact } = about;
    if (fact === 'deleted') {
      // Later events would be applied after the deletion, to a row that does not exist.
      changes.delete(webhookId);
      deleted.add(webhookId);
      continue;
    }
    const before = changes.get(webhookId)?.change ?? NO_CHANGE;
    changes.set(webhookId, { tenantId, change: healthAfter(before, fact) });
  }
  return [...removal([...deleted], schema), ...upsert(changes, schema)];
}

const removal = (deleted: readonly string[], schema: string): readonly Statement[] =>
  deleted.length === 0
    ? []
    : [
        {
          text: `DELETE FROM ${schema}.health WHERE webhook_id = ANY($1::uuid[])`,
          values: [deleted],
        },
      ];

function upsert(changes: Changes, schema: string): readonly Statement[] {
  if (changes.size === 0) return [];
  const all = [...changes.values()];
  const text = `
    INSERT INTO ${schema}.health AS h
      (webhook_id, tenant_id, failing_since, failures, unanswered, last_success_at)
    SELECT c.webhook_id, c.tenant_id, c.failing_since, c.failures, c.unanswered, c.last_success_at
    FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::int[], $5::int[], $6::timestamptz[])
      AS c(webhook_id, tenant_id, failing_since, failures, unanswered, last_success_at)
    ON CONFLICT (webhook_id) DO UPDATE SET
      failing_since = CASE WHEN excluded.webhook_id = ANY($7::uuid[]) THEN excluded.failing_since
        ELSE coalesce(h.failing_since, excluded.failing_since) END,
      failures = excluded.failures
        + CASE WHEN excluded.webhook_id = ANY($7::uuid[]) THEN 0 ELSE h.failures END,
      unanswered = excluded.unanswered
        + CASE WHEN excluded.webhook_id = ANY($8::uuid[]) THEN 0 ELSE h.unanswered END,
      last_success_at = coalesce(excluded.last_success_at, h.last_success_at)`;
  const idsWhere = (flag: 'isFresh' | 'isAnswered') =>
    [...changes].filter(([, { change }]) => change[flag]).map(([webhookId]) => webhookId);
  const values = [
    [...changes.keys()],
    all.map(({ tenantId }) => tenantId),
    all.map(({ change }) => change.health.failingSince),
    all.map(({ change }) => change.health.failures),
    all.map(({ change }) => change.health.unanswered),
    all.map(({ change }) => change.health.lastSuccessAt),
    idsWhere('isFresh'),
    idsWhere('isAnswered'),
  ];
  return [{ name: `${schema}_change_health`, text, values }];
}

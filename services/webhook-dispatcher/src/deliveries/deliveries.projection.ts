/** Stores the deliveries to send (`deliveries`, `queue`) and the results of attempts (`attempts`). */
import type { WebhookEvent } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import type { Recorded } from '@cardea/event-store';
import { jsonOf, orNull, projection, type TableChange, table, textOf } from '@cardea/read-models';
import { type TenantForgotten, tenantRowsDeleted } from '@cardea/service';
import {
  type DeliveryAttemptFact,
  type DeliveryFact,
  deliveryIdOf,
  type Origin,
} from './delivery.ts';

export const DELIVERIES_TABLE = 'deliveries';
/** Due at once. A delivery that is due later becomes ready in a claim. This is working state, like the lease. */
const READY = { ready: true, lease_owner: null, lease_until: null };
const WAITING = { ...READY, ready: false };

export const deliveryRows = table(DELIVERIES_TABLE, {
  key: ['id'],
  columns: {
    id: 'uuid',
    tenant_id: 'text',
    webhook_id: 'uuid',
    app_id: orNull('text'),
    message_id: 'uuid',
    event: textOf<WebhookEvent>(),
    origin: textOf<Origin>(),
    subject: 'text',
    body: 'text',
    traceparent: orNull('text'),
    created_at: 'timestamptz',
  },
});
export const queueRows = table('queue', {
  key: ['delivery_id'],
  columns: {
    delivery_id: 'uuid',
    tenant_id: 'text',
    webhook_id: 'uuid',
    origin: textOf<Origin>(),
    subject: 'text',
    run_at: 'timestamptz',
    attempts_made: 'smallint',
    position: 'bigint',
    ready: 'boolean',
    lease_owner: orNull('text'),
    lease_until: orNull('timestamptz'),
  },
});
export const attemptRows = table('attempts', {
  key: ['tenant_id', 'attempted_at', 'delivery_id', 'n'],
  columns: {
    tenant_id: 'text',
    attempted_at: 'timestamptz',
    delivery_id: 'uuid',
    n: 'smallint',
    webhook_id: 'uuid',
    app_id: orNull('text'),
    event: textOf<WebhookEvent>(),
    origin: textOf<Origin>(),
    status_code: 'smallint',
    success: 'boolean',
    duration_ms: 'integer',
    error: orNull('text'),
    excerpt: orNull(jsonOf<Sealed>()),
    next_at: orNull('timestamptz'),
    final: 'boolean',
  },
});

export const deliveriesTable = (onCommitted: (events: readonly Recorded<DeliveryFact>[]) => void) =>
  projection<DeliveryFact | TenantForgotten>()({
    name: DELIVERIES_TABLE,
    log: 'webhooks',
    tables: [deliveryRows, queueRows, attemptRows],
    on: {
      DeliveryScheduled: scheduled,
      DeliveryAttempted: (event) => {
        const { next_at, n } = event.data;
        const delivery_id = deliveryIdOf(event.streamId);
        return [
          attempted(event, { next_at, final: next_at === null }),
          next_at === null
            ? queueRows.remove({ delivery_id })
            : queueRows.patch({ delivery_id }, { run_at: next_at, attempts_made: n, ...WAITING }),
        ];
      },
      DeliverySucceeded: ended,
      DeliveryFailed: ended,
      DeliveryCancelled: ({ streamId }) => [unqueued(streamId)],
    },
    apply: {
      on: ['TenantForgotten'],
      statements: (events, { schema }) =>
        tenantRowsDeleted(events, [
          `${schema}.deliveries`,
          `${schema}.queue`,
          `${schema}.attempts`,
        ]),
    },
    onCommitted: (events) => onCommitted(events.filter(isOfDelivery)),
    // A delivery that cannot be read is never sent.
    onParked: (streamId) => [unqueued(streamId)],
  });

const isOfDelivery = (
  event: Recorded<DeliveryFact | TenantForgotten>,
): event is Recorded<DeliveryFact> => event.type !== 'TenantForgotten';

function scheduled(event: Recorded<DeliveryFact, 'DeliveryScheduled'>): readonly TableChange[] {
  const { data, streamId, metadata, position, time } = event;
  const id = deliveryIdOf(streamId);
  const { webhook_id, origin, subject, run_at } = data;
  const tenant_id = metadata.tenantId;
  const waiting = { delivery_id: id, tenant_id, webhook_id, origin, subject, run_at };
  return [
    deliveryRows.put({
      id,
      tenant_id,
      webhook_id,
      app_id: data.app_id,
      message_id: data.message_id,
      event: data.event,
      origin,
      subject,
      body: data.body.box,
      traceparent: metadata.traceparent ?? null,
      created_at: time,
    }),
    queueRows.put({ ...waiting, attempts_made: 0, position, ...READY }),
  ];
}

const ended = (event: Recorded<DeliveryAttemptFact>): readonly TableChange[] => [
  attempted(event, { next_at: null, final: true }),
  unqueued(event.streamId),
];

const unqueued = (streamId: string): TableChange =>
  queueRows.remove({ delivery_id: deliveryIdOf(streamId) });

function attempted(
  event: Recorded<DeliveryAttemptFact>,
  next: { readonly next_at: string | null; readonly final: boolean },
): TableChange {
  const { data, metadata, streamId, type } = event;
  return attemptRows.put({
    tenant_id: metadata.tenantId,
    attempted_at: data.started_at,
    delivery_id: deliveryIdOf(streamId),
    n: data.n,
    webhook_id: data.webhook_id,
    app_id: data.app_id,
    event: data.event,
    origin: data.origin,
    status_code: data.status_code,
    success: type === 'DeliverySucceeded',
    duration_ms: data.duration_ms,
    error: data.error,
    excerpt: data.excerpt,
    ...next,
  });
}

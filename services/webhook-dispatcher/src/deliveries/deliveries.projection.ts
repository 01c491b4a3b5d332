/** Keeps what is to be sent (`deliveries`, `queue`) and what came of it (`attempts`). */
import type { RecordedEvent } from '@cardea/event-store';
import {
  type Projected,
  type Projection,
  patch,
  put,
  remove,
  type TableChange,
} from '@cardea/read-models';
import { type AttemptFact, type DeliveryScheduled, deliveryIdOf } from './delivery.ts';

export const DELIVERIES_TABLE = 'deliveries';
const UNLEASED = { lease_owner: null, lease_until: null };

export const deliveriesTable = (
  onCommitted: (events: readonly RecordedEvent[]) => void,
): Projection => ({
  name: DELIVERIES_TABLE,
  log: 'webhooks',
  tables: [
    {
      name: DELIVERIES_TABLE,
      key: ['id'],
      columns: {
        id: 'uuid',
        tenant_id: 'text',
        webhook_id: 'uuid',
        app_id: 'text',
        message_id: 'uuid',
        event: 'text',
        origin: 'text',
        subject: 'text',
        body: 'text',
        traceparent: 'text',
        created_at: 'timestamptz',
      },
    },
    {
      name: 'queue',
      key: ['delivery_id'],
      columns: {
        delivery_id: 'uuid',
        tenant_id: 'text',
        webhook_id: 'uuid',
        origin: 'text',
        subject: 'text',
        run_at: 'timestamptz',
        attempts_made: 'smallint',
        position: 'bigint',
        lease_owner: 'text',
        lease_until: 'timestamptz',
      },
    },
    {
      name: 'attempts',
      key: ['tenant_id', 'attempted_at', 'delivery_id', 'n'],
      columns: {
        tenant_id: 'text',
        attempted_at: 'timestamptz',
        delivery_id: 'uuid',
        n: 'smallint',
        webhook_id: 'uuid',
        app_id: 'text',
        event: 'text',
        origin: 'text',
        status_code: 'smallint',
        success: 'boolean',
        duration_ms: 'integer',
        error: 'text',
        excerpt: 'jsonb',
        next_at: 'timestamptz',
        final: 'boolean',
      },
    },
  ],
  on: {
    DeliveryScheduled: scheduled,
    DeliveryAttempted: (
      event: Projected<Extract<AttemptFact, { type: 'DeliveryAttempted' }>['data']>,
    ) => {
      const { next_at } = event.data;
      const delivery_id = deliveryIdOf(event.streamId);
      const waits = { run_at: next_at, attempts_made: event.data.n, ...UNLEASED };
      return [
        attempted(event, { next_at, final: next_at === null }),
        {
          table: 'queue',
          change: next_at === null ? remove({ delivery_id }) : patch({ delivery_id }, waits),
        },
      ];
    },
    DeliverySucceeded: ended,
    DeliveryFailed: ended,
    DeliveryCancelled: ({ streamId }: Projected<object>) => [unqueued(streamId)],
  },
  onCommitted,
  // Nobody sends what cannot be read.
  onParked: (streamId) => [unqueued(streamId)],
});

function scheduled(event: Projected<DeliveryScheduled['data']>): readonly TableChange[] {
  const { data, streamId, metadata, position, time } = event;
  const id = deliveryIdOf(streamId);
  const { webhook_id, origin, subject, run_at } = data;
  const tenant_id = metadata.tenantId;
  const delivery = {
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
  };
  const waiting = { delivery_id: id, tenant_id, webhook_id, origin, subject, run_at };
  return [
    { table: DELIVERIES_TABLE, change: put(delivery) },
    { table: 'queue', change: put({ ...waiting, attempts_made: 0, position, ...UNLEASED }) },
  ];
}

const ended = (event: Projected<AttemptFact['data']>): readonly TableChange[] => [
  attempted(event, { next_at: null, final: true }),
  unqueued(event.streamId),
];

const unqueued = (streamId: string): TableChange => ({
  table: 'queue',
  change: remove({ delivery_id: deliveryIdOf(streamId) }),
});

function attempted(
  event: Projected<AttemptFact['data']>,
  next: { readonly next_at: string | null; readonly final: boolean },
): TableChange {
  const { data, metadata, streamId, type } = event;
  const row = {
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
  };
  return { table: 'attempts', change: put(row) };
}

/** What the others hear of webhooks: who changed them, and deliveries that came to nothing. */
import type { DataOf, webhooksEvents } from '@cardea/contracts';
import type { Mapped, RelayMapper } from '@cardea/event-bus';
import type { RecordedEvent } from '@cardea/event-store';
import {
  type DeliveryFailed,
  type DeliveryScheduled,
  deliveryIdOf,
} from './deliveries/delivery.ts';
import { type WebhookFact, webhooks } from './webhooks/webhook.ts';
import { webhookIdOf } from './webhooks/webhooks.projection.ts';

type Data<Of extends (typeof webhooksEvents)['types'][number]> = DataOf<typeof webhooksEvents, Of>;

export const mapWebhooksEvent: RelayMapper = async (event, { history }) => {
  const { type } = event;
  switch (type) {
    case 'WebhookCreated':
    case 'WebhookChanged':
      return shapeOf(event, await history());
    case 'SecretRotated':
    case 'WebhookAutoDisabled':
    case 'WebhookDeleted':
      return ofWebhook(event);
    case 'DeliveryScheduled':
      return scheduled(event);
    case 'DeliveryFailed':
      return failed(event);
    default:
      return undefined;
  }
};

const factOf = ({ type, data }: RecordedEvent) => ({ type, data }) as unknown as WebhookFact;

function shapeOf(event: RecordedEvent, history: readonly RecordedEvent[]): Mapped | undefined {
  const webhook = history.map(factOf).reduce(webhooks.evolve, webhooks.initial);
  if (webhook.status !== 'standing') return undefined;
  const { origin, events, enabled } = webhook;
  const webhook_id = webhookIdOf(event.streamId);
  const created: Data<'webhook.created'> = { webhook_id, origin, events: [...events], enabled };
  if (event.type === 'WebhookCreated') return { type: 'webhook.created', data: created };
  const changed = Object.keys(event.data).filter((name) => name !== 'origin');
  return { type: 'webhook.updated', data: { ...created, changed } };
}

function ofWebhook(event: RecordedEvent): Mapped | undefined {
  const webhook_id = webhookIdOf(event.streamId);
  const { type, data } = factOf(event);
  switch (type) {
    case 'SecretRotated':
      return { type: 'webhook.secret_rotated', data: { webhook_id, version: data.version } };
    case 'WebhookAutoDisabled': {
      const { failing_since, failures } = data;
      return { type: 'webhook.auto_disabled', data: { webhook_id, failing_since, failures } };
    }
    case 'WebhookDeleted':
      return { type: 'webhook.deleted', data: { webhook_id } };
    default:
      return undefined;
  }
}

/** What an event has caused is not news; what a person has asked for is. */
function scheduled(event: RecordedEvent): Mapped | undefined {
  const data = event.data as unknown as DeliveryScheduled['data'];
  const named = { webhook_id: data.webhook_id, delivery_id: deliveryIdOf(event.streamId) };
  switch (data.origin) {
    case 'event':
      return undefined;
    case 'test':
      return { type: 'webhook.tested', data: named };
    case 'manual': {
      const { retry_of, event: name } = data;
      return { type: 'delivery.retried', data: { ...named, retry_of, event: name } };
    }
  }
}

function failed(event: RecordedEvent): Mapped {
  const {
    webhook_id,
    event: name,
    n,
    status_code,
    error,
  } = event.data as unknown as DeliveryFailed['data'];
  const delivery_id = deliveryIdOf(event.streamId);
  const data: Data<'delivery.failed'> = {
    webhook_id,
    delivery_id,
    event: name,
    attempts: n,
    status_code,
    error,
  };
  return { type: 'delivery.failed', data };
}

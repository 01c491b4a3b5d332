/** What is published of webhooks: who changed them, and deliveries that failed for good. */
import type { webhooksEvents } from '@cardea/contracts';
import { type RelayTools, relay } from '@cardea/event-bus';
import { ignoring } from '@cardea/event-store';
import { type DeliveryFact, deliveryIdOf } from './deliveries/delivery.ts';
import { type WebhookFact, webhooks } from './webhooks/webhook.ts';
import { webhookIdOf } from './webhooks/webhooks.projection.ts';

export const webhooksRelay = relay<WebhookFact | DeliveryFact, typeof webhooksEvents>({
  WebhookCreated: async (event, tools) => {
    const shape = await shapeOf(event, tools);
    return shape && { type: 'webhook.created', data: shape };
  },
  WebhookChanged: async (event, tools) => {
    const shape = await shapeOf(event, tools);
    const changed = Object.keys(event.data).filter((name) => name !== 'origin');
    return shape && { type: 'webhook.updated', data: { ...shape, changed } };
  },
  SecretRotated: ({ streamId, data: { version } }) => ({
    type: 'webhook.secret_rotated',
    data: { webhook_id: webhookIdOf(streamId), version },
  }),
  WebhookAutoDisabled: ({ streamId, data: { failing_since, failures } }) => ({
    type: 'webhook.auto_disabled',
    data: { webhook_id: webhookIdOf(streamId), failing_since, failures },
  }),
  WebhookDeleted: ({ streamId }) => ({
    type: 'webhook.deleted',
    data: { webhook_id: webhookIdOf(streamId) },
  }),
  // What an event has caused is not news; what a person has asked for is.
  DeliveryScheduled: ({ streamId, data }) => {
    const named = { webhook_id: data.webhook_id, delivery_id: deliveryIdOf(streamId) };
    switch (data.origin) {
      case 'event':
        return undefined;
      case 'test':
        return { type: 'webhook.tested', data: named };
      case 'manual': {
        const { retry_of, event } = data;
        if (retry_of === null) throw new Error('a manual retry of nothing');
        return { type: 'delivery.retried', data: { ...named, retry_of, event } };
      }
    }
  },
  DeliveryFailed: ({ streamId, data: { webhook_id, event, n, status_code, error } }) => {
    const delivery_id = deliveryIdOf(streamId);
    const failed = { webhook_id, delivery_id, event, attempts: n, status_code, error };
    return { type: 'delivery.failed', data: failed };
  },
  ...ignoring(
    'attempts have a list of their own',
    'DeliveryAttempted',
    'DeliverySucceeded',
    'DeliveryCancelled',
  ),
});

async function shapeOf({ streamId }: { readonly streamId: string }, { stateOf }: RelayTools) {
  const webhook = await stateOf(webhooks);
  if (webhook.status !== 'standing') return undefined;
  const { origin, events, enabled } = webhook;
  return { webhook_id: webhookIdOf(streamId), origin, events: [...events], enabled };
}

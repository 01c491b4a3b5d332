/** Publishes who created, changed or deleted a webhook. */
import type { webhooksEvents } from '@cardea/contracts';
import { type RelayTools, relay } from '@cardea/event-bus';
import { type WebhookFact, webhooks } from './webhook.ts';
import { webhookIdOf } from './webhooks.projection.ts';

export const webhooksRelay = relay<WebhookFact, typeof webhooksEvents>({
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
});

async function shapeOf({ streamId }: { readonly streamId: string }, { stateOf }: RelayTools) {
  const webhook = await stateOf(webhooks);
  if (webhook.status !== 'standing') return undefined;
  const { origin, events, enabled } = webhook;
  return { webhook_id: webhookIdOf(streamId), origin, events: [...events], enabled };
}

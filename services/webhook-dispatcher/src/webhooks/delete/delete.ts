import { accept, type Decision, refuse } from '@cardea/event-store';
import { seenBy, type Webhook, type WebhookDeleted } from '../webhook.ts';

export const deleteWebhook = (
  webhook: Webhook,
  appId: string | undefined,
): Decision<WebhookDeleted, 'webhook_not_found'> =>
  seenBy(webhook, appId) === undefined
    ? refuse('webhook_not_found')
    : accept({ type: 'WebhookDeleted', data: {} });

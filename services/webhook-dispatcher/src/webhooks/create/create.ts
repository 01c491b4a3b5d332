import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Webhook, WebhookCreated } from '../webhook.ts';

/** A repeat under the same key meets the webhook of then: its secret is shown to nobody again. */
export function createWebhook(
  webhook: Webhook,
  data: WebhookCreated['data'],
): Decision<WebhookCreated, 'already_created' | 'idempotency_key_reused'> {
  if (webhook.status === 'absent') return accept({ type: 'WebhookCreated', data });
  const same = webhook.status === 'deleted' || webhook.requestHash === data.request_hash;
  return refuse(same ? 'already_created' : 'idempotency_key_reused');
}

import { accept, type Decision, refuse } from '@cardea/event-store';
import { reusedKey } from '@cardea/service';
import type { Webhook, WebhookCreated } from '../webhook.ts';

type Repeated = 'already_created' | 'idempotency_key_reused';

export const createWebhook = (
  webhook: Webhook,
  data: WebhookCreated['data'],
): Decision<WebhookCreated, Repeated> =>
  webhook.status === 'absent'
    ? accept({ type: 'WebhookCreated', data })
    : refuse(repeatOf(webhook, data.request_hash));

/** The response to a repeat under the same key. The secret of the first response cannot be shown again. */
export const repeatOf = (webhook: Webhook, requestHash: string | null): Repeated =>
  webhook.status === 'standing' && reusedKey(requestHash, webhook.requestHash) !== undefined
    ? 'idempotency_key_reused'
    : 'already_created';

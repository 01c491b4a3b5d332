/** Publishes the deliveries that a user requested, and those that failed for good. */
import type { webhooksEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import { ignored } from '@cardea/event-store';
import type { TenantForgotten } from '@cardea/service';
import { type DeliveryFact, deliveryIdOf } from './delivery.ts';

export const deliveriesRelay = relay<DeliveryFact | TenantForgotten, typeof webhooksEvents>({
  // A delivery that an event caused is not published; one that a user requested is.
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
  TenantForgotten: ignored('identity has published it'),
});

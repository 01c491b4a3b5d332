import type { Webhook } from '../../webhooks/webhooks.module.ts';
import type { Delivery } from '../delivery.ts';

/** Returns why it cannot be sent again. Undefined if it can, even if it was delivered. */
export function whyNotRetried(of: {
  readonly delivery: Delivery;
  readonly webhook: Webhook;
  /** The number of the attempt that the client names. */
  readonly n: number;
  readonly appId: string | undefined;
}): 'delivery_not_found' | 'webhook_unavailable' | undefined {
  const { delivery, webhook, n, appId } = of;
  if (delivery.status === 'absent' || n > delivery.attemptsMade) return 'delivery_not_found';
  if (appId !== undefined && delivery.appId !== appId) return 'delivery_not_found';
  if (webhook.status !== 'standing' || !webhook.enabled) return 'webhook_unavailable';
  return undefined;
}

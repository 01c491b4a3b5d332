import { accept, type Decision, refuse } from '@cardea/event-store';
import { seenBy, type Webhook, type WebhookChanged } from '../webhook.ts';

/** The event contains only the fields that differ. A URL in the request counts as different. */
export function changeWebhook(
  webhook: Webhook,
  change: WebhookChanged['data'],
  appId: string | undefined,
): Decision<WebhookChanged, 'webhook_not_found'> {
  const standing = seenBy(webhook, appId);
  if (standing === undefined) return refuse('webhook_not_found');
  const { url, origin, events, description, enabled } = change;
  const data: WebhookChanged['data'] = {
    ...(url === undefined || origin === undefined ? {} : { url, origin }),
    ...(events === undefined || isSame(events, standing.events) ? {} : { events }),
    ...(description === undefined || description === standing.description ? {} : { description }),
    ...(enabled === undefined || enabled === standing.enabled ? {} : { enabled }),
  };
  if (Object.keys(data).length === 0) return accept();
  return accept({ type: 'WebhookChanged', data });
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each, index) => each === others[index]);

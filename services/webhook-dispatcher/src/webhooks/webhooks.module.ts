/** Webhooks: a tenant's addresses, the event types that each subscribes to, and the secrets that sign for them. */
import type { Module, ServiceDependencies } from '@cardea/service';
import { changeWebhookRoute } from './change/change.route.ts';
import { createWebhookRoute } from './create/create.route.ts';
import { deleteWebhookRoute } from './delete/delete.route.ts';
import { listEventTypesRoute } from './event-types/event-types.route.ts';
import { getWebhookRoute } from './get/get.route.ts';
import { listWebhooksRoute } from './list/list.route.ts';
import { webhooksRelay } from './relay.ts';
import { rotateSecretRoute } from './rotate-secret/rotate-secret.route.ts';
import { webhooks } from './webhook.ts';
import { WebhookIndex } from './webhook-index.ts';
import { webhooksTable } from './webhooks.projection.ts';

export { deleteWebhook } from './delete/delete.ts';
export * from './webhook.ts';
export type { IndexedWebhook, Target, WebhookIndex } from './webhook-index.ts';
export { idParams, notFound } from './webhook-shape.ts';
export { WEBHOOKS_TABLE, webhookIdOf } from './webhooks.projection.ts';
export type { WriteDependencies } from './writing.ts';

export type WebhooksDependencies = Pick<
  ServiceDependencies,
  | 'streams'
  | 'store'
  | 'database'
  | 'sealer'
  | 'clock'
  | 'ids'
  | 'random'
  | 'log'
  | 'settings'
  | 'command'
>;

export function webhooksModule(needs: WebhooksDependencies): {
  readonly module: Module;
  readonly index: WebhookIndex;
} {
  const index = new WebhookIndex(needs);
  const shared = { ...needs, index };
  const module: Module = {
    endpoints: [
      listWebhooksRoute(shared),
      createWebhookRoute(shared),
      getWebhookRoute(shared),
      changeWebhookRoute(shared),
      deleteWebhookRoute(shared),
      rotateSecretRoute(shared),
      listEventTypesRoute(),
    ],
    projections: [webhooksTable],
    relay: webhooksRelay,
    loops: [{ name: 'webhooks-index', run: index.run }],
    start: () => index.load(),
  };
  return { module, index };
}

export const webhooksStreams = [webhooks];

/** The webhook dispatcher: what tenants are told of at addresses of their own choice, signed and at least once. */
import { outbound } from '@cardea/http';
import { metrics } from '@cardea/runtime';
import type { ServiceDefinition } from '@cardea/service';
import { postgresQueue } from './adapters/queue.ts';
import { Dispatcher } from './deliveries/attempt/dispatcher.ts';
import { AttemptWatch } from './deliveries/attempt-watch.ts';
import { autoDisable } from './deliveries/auto-disable.ts';
import { cancelOnDisableOrDelete } from './deliveries/cancel-on-disable-or-delete.policy.ts';
import { deliveriesTable } from './deliveries/deliveries.projection.ts';
import { eraseDeletedUsers } from './deliveries/erase-deleted-users.ts';
import { forgetOldAttempts } from './deliveries/forget-old-attempts.ts';
import { healthTable } from './deliveries/health.projection.ts';
import { listDeliveriesRoute } from './deliveries/list/list.route.ts';
import { retryDeliveryRoute } from './deliveries/retry/retry.route.ts';
import { scheduleDeliveries } from './deliveries/schedule/schedule.consumer.ts';
import { supersedeOnManualSuccess } from './deliveries/supersede-on-manual-success.policy.ts';
import { testWebhookRoute } from './deliveries/test/test.route.ts';
import { webhooksRelay } from './relay.ts';
import { changeWebhookRoute } from './webhooks/change/change.route.ts';
import { createWebhookRoute } from './webhooks/create/create.route.ts';
import { deleteWebhookRoute } from './webhooks/delete/delete.route.ts';
import { listEventTypesRoute } from './webhooks/event-types/event-types.route.ts';
import { getWebhookRoute } from './webhooks/get/get.route.ts';
import { listWebhooksRoute } from './webhooks/list/list.route.ts';
import { rotateSecretRoute } from './webhooks/rotate-secret/rotate-secret.route.ts';
import { WebhookIndex } from './webhooks/webhook-index.ts';
import { webhooksTable } from './webhooks/webhooks.projection.ts';

export const webhooksService: ServiceDefinition = {
  name: 'webhooks',
  migrations: new URL('../migrations/', import.meta.url),
  build: (needs) => {
    const { settings, database } = needs;
    const client = outbound({ env: settings.ENV, allowedCidrs: settings.WEBHOOK_ALLOWED_CIDRS });
    const index = new WebhookIndex(needs);
    const watch = new AttemptWatch(needs);
    const queue = postgresQueue(database);
    const dispatcher = new Dispatcher({ ...needs, index, queue, outbound: client });
    const writes = { ...needs, index, watch };
    return {
      endpoints: [
        listWebhooksRoute(needs),
        createWebhookRoute(writes),
        getWebhookRoute(needs),
        changeWebhookRoute(writes),
        deleteWebhookRoute(writes),
        rotateSecretRoute(writes),
        testWebhookRoute(writes),
        listDeliveriesRoute(needs),
        retryDeliveryRoute(writes),
        listEventTypesRoute(),
      ],
      projections: [
        webhooksTable,
        deliveriesTable((events) => {
          watch.heard(events);
          dispatcher.wake();
        }),
        healthTable(() => dispatcher.wake()),
      ],
      relay: webhooksRelay,
      consumers: [scheduleDeliveries({ ...needs, index })],
      policies: [cancelOnDisableOrDelete(needs), supersedeOnManualSuccess(needs)],
      loops: [
        { name: 'webhooks-index', run: (signal, tick) => index.run(signal, tick) },
        { name: 'webhooks-dispatcher', run: (signal, tick) => dispatcher.run(signal, tick) },
        { name: 'webhooks-leases', run: (signal, tick) => dispatcher.renew(signal, tick) },
        autoDisable(needs),
        eraseDeletedUsers(needs),
        forgetOldAttempts(needs),
      ],
      start: () => index.load(),
      stop: () => client.close(),
      measure: async () => {
        const { rows } = await database.system.query<{ seconds: number }>(
          `SELECT greatest(0, extract(epoch FROM now() - min(run_at)))::float8 AS seconds
           FROM webhooks.queue WHERE lease_until IS NULL OR lease_until < now()`,
        );
        metrics.webhookOldestDue.set(rows[0]?.seconds ?? 0);
      },
    };
  },
};

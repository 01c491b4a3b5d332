/** Deliveries: the events to send to each webhook, attempted until they are accepted or given up. */
import { outbound } from '@cardea/http';
import { metrics } from '@cardea/runtime';
import { forgottenTenants, type Module, type ServiceDependencies } from '@cardea/service';
import type { WebhookIndex } from '../webhooks/webhooks.module.ts';
import { autoDisable } from './auto-disable.ts';
import { cancelOnDisableOrDelete } from './cancel-on-disable-or-delete.policy.ts';
import { Dispatcher } from './deliver/dispatcher.ts';
import { deliveriesTable } from './deliveries.projection.ts';
import { type DeliveryFact, deliveries } from './delivery.ts';
import { DeliveryAttemptWatch } from './delivery-attempt-watch.ts';
import { deliveryLogRetention } from './delivery-log-retention.ts';
import { eraseDeletedUsers } from './erase-deleted-users.ts';
import { healthTable } from './health.projection.ts';
import { listDeliveriesRoute } from './list/list.route.ts';
import { postgresQueue } from './queue.ts';
import { deliveriesRelay } from './relay.ts';
import { retryDeliveryRoute } from './retry/retry.route.ts';
import { scheduleDeliveries } from './schedule/schedule.consumer.ts';
import { supersedeOnManualSuccess } from './supersede-on-manual-success.policy.ts';
import { testWebhookRoute } from './test/test.route.ts';

export type DeliveriesDependencies = Pick<
  ServiceDependencies,
  | 'streams'
  | 'store'
  | 'database'
  | 'positions'
  | 'sealer'
  | 'clock'
  | 'ids'
  | 'random'
  | 'log'
  | 'settings'
  | 'command'
  | 'systemCommand'
> & { readonly index: WebhookIndex };

export function deliveriesModule(needs: DeliveriesDependencies): Module {
  const { settings, database } = needs;
  const client = outbound({ env: settings.ENV, allowedCidrs: settings.WEBHOOK_ALLOWED_CIDRS });
  const watch = new DeliveryAttemptWatch(needs);
  const dispatcher = new Dispatcher({ ...needs, queue: postgresQueue(database), outbound: client });
  const shared = { ...needs, watch };
  return {
    endpoints: [testWebhookRoute(shared), listDeliveriesRoute(shared), retryDeliveryRoute(shared)],
    projections: [
      deliveriesTable((events) => {
        watch.heard(events);
        if (events.some(isQueued)) dispatcher.wake();
        else dispatcher.wakeForMore();
      }),
      healthTable(() => dispatcher.wakeForMore()),
    ],
    relay: deliveriesRelay,
    consumers: [scheduleDeliveries(shared)],
    policies: [cancelOnDisableOrDelete(shared), supersedeOnManualSuccess(shared)],
    loops: [
      { name: 'webhooks-dispatcher', run: (signal, tick) => dispatcher.run(signal, tick) },
      { name: 'webhooks-leases', run: (signal, tick) => dispatcher.renew(signal, tick) },
      autoDisable(shared),
      eraseDeletedUsers(shared),
      deliveryLogRetention(shared),
    ],
    stop: () => client.close(),
    measure: async () => {
      const { rows } = await database.system.query<{ seconds: number }>(
        `SELECT greatest(0, extract(epoch FROM now() - min(run_at)))::float8 AS seconds
         FROM webhooks.queue WHERE lease_until IS NULL OR lease_until < now()`,
      );
      metrics.webhookOldestDue.set(rows[0]?.seconds ?? 0);
    },
  };
}

/** Whether the fact makes a delivery due now or at another time than before. */
const isQueued = ({ type }: Pick<DeliveryFact, 'type'>): boolean =>
  type === 'DeliveryScheduled' || type === 'DeliveryAttempted';

export { type Replay, replayOf } from './retry/replay.ts';
export const deliveriesStreams = [deliveries, forgottenTenants];

/**
 * Retries every delivery to a webhook that was given up since some time, once per message. Messages that were delivered
 * or are waiting are left out.
 */
import type { ServiceDependencies } from '@cardea/service';
import { webhooks } from '../../webhooks/webhooks.module.ts';
import { deliveries } from '../delivery.ts';
import { manualDelivery } from './manual-delivery.ts';
import { whyNotRetried } from './retry.ts';

export type ReplayDependencies = Pick<
  ServiceDependencies,
  'database' | 'sealer' | 'streams' | 'systemCommand'
>;
export type Replayed = { readonly scheduled: number; readonly erased: number };
export type Replay = (of: {
  readonly webhookId: string;
  readonly since: Date;
  readonly signal: AbortSignal;
}) => Promise<Replayed | 'webhook_not_found' | 'webhook_unavailable'>;

const PAGE_ROWS = 200;

type Failed = { readonly delivery_id: string; readonly n: number; readonly message_id: string };

export const replayOf =
  (needs: ReplayDependencies): Replay =>
  async ({ webhookId, since, signal }) => {
    const { rows } = await needs.database.system.query<{ tenant_id: string }>(
      'SELECT tenant_id FROM webhooks.webhooks WHERE id = $1',
      [webhookId],
    );
    const tenantId = rows[0]?.tenant_id;
    if (tenantId === undefined) return 'webhook_not_found';
    const { state: webhook } = await needs.streams.load(webhooks, { tenantId, id: webhookId });
    if (webhook.status !== 'standing' || !webhook.enabled) return 'webhook_unavailable';
    const done = { scheduled: 0, erased: 0 };
    let after = '00000000-0000-0000-0000-000000000000';
    while (!signal.aborted) {
      const failed = await failedAfter(needs, { webhookId, since, after });
      for (const { delivery_id: id, n } of failed) {
        const { state: delivery } = await needs.streams.load(deliveries, { tenantId, id });
        if (delivery.status === 'absent') continue;
        if (whyNotRetried({ delivery, webhook, n, appId: undefined }) !== undefined) continue;
        // The id is derived from the delivery, so that a second replay schedules nothing twice.
        const command = needs.systemCommand(tenantId, 'webhooks-replay', id);
        const next = await manualDelivery(needs, { tenantId, deliveryId: id, delivery, command });
        if (next === undefined) {
          done.erased += 1;
          continue;
        }
        await needs.streams.decideOn(deliveries, next.id, command, next.scheduled);
        done.scheduled += 1;
      }
      if (failed.length < PAGE_ROWS) return done;
      after = failed.at(-1)?.message_id ?? after;
    }
    return done;
  };

/** The last delivery of each message that failed, by message. */
async function failedAfter(
  { database }: ReplayDependencies,
  of: { readonly webhookId: string; readonly since: Date; readonly after: string },
): Promise<readonly Failed[]> {
  const { rows } = await database.system.query<Failed>(
    `SELECT DISTINCT ON (d.message_id) d.message_id, a.delivery_id, a.n
     FROM webhooks.attempts AS a JOIN webhooks.deliveries AS d ON d.id = a.delivery_id
     WHERE a.webhook_id = $1 AND a.attempted_at >= $2 AND a.final AND NOT a.success AND a.origin <> 'test'
       AND d.message_id > $3
       AND NOT EXISTS (
         SELECT FROM webhooks.deliveries AS other
         WHERE other.webhook_id = d.webhook_id AND other.message_id = d.message_id
           AND (EXISTS (SELECT FROM webhooks.attempts AS b
                        WHERE b.tenant_id = a.tenant_id AND b.delivery_id = other.id AND b.success)
             OR EXISTS (SELECT FROM webhooks.queue AS q WHERE q.delivery_id = other.id)))
     ORDER BY d.message_id, a.attempted_at DESC LIMIT ${PAGE_ROWS}`,
    [of.webhookId, of.since, of.after],
  );
  return rows;
}

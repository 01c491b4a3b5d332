/**
 * A disabled or deleted webhook gets nothing more: its waiting deliveries are cancelled, and enabling it again does not
 * restore them. After a deletion everything that was encrypted under the webhook's key is erased.
 */
import type { Sealer } from '@cardea/crypto';
import type { RecordedEvent, Streams } from '@cardea/event-store';
import type { Database, Positions } from '@cardea/read-models';
import { decideOnRows, policy, type ServiceDependencies } from '@cardea/service';
import { subjectOf, type WebhookFact, webhookIdOf } from '../webhooks/webhooks.module.ts';
import { cancel } from './cancel-delivery.ts';
import { DELIVERIES_TABLE } from './deliveries.projection.ts';
import { type CancelCause, deliveries } from './delivery.ts';

type Dependencies = {
  readonly streams: Streams;
  readonly database: Database;
  readonly positions: Positions;
  readonly sealer: Pick<Sealer, 'erase'>;
  readonly systemCommand: ServiceDependencies['systemCommand'];
};

const PAGE_DELIVERIES = 256;
const TABLE_WAIT_MS = 30_000;
const FIRST = '00000000-0000-0000-0000-000000000000';

export const cancelOnDisableOrDelete = (needs: Dependencies) =>
  policy<WebhookFact>()({
    name: 'cancel_on_disable_or_delete',
    on: {
      WebhookChanged: async (event) => {
        if (event.data.enabled === false) await cancelAll(needs, event, 'webhook_disabled');
      },
      WebhookAutoDisabled: (event) => cancelAll(needs, event, 'webhook_disabled'),
      WebhookDeleted: async (event) => {
        await cancelAll(needs, event, 'webhook_deleted');
        await needs.sealer.erase(subjectOf(webhookIdOf(event.streamId)));
      },
    },
  });

async function cancelAll(
  needs: Dependencies,
  event: Pick<RecordedEvent, 'id' | 'streamId' | 'position' | 'metadata'>,
  cause: CancelCause,
): Promise<void> {
  const { database, systemCommand } = needs;
  const { position } = event;
  const { tenantId } = event.metadata;
  await decideOnRows(
    needs,
    {
      projections: [DELIVERIES_TABLE],
      position,
      waitMs: TABLE_WAIT_MS,
      pageRows: PAGE_DELIVERIES,
      page: async (after) => {
        const { rows } = await database.system.query<{ delivery_id: string }>(PENDING, [
          webhookIdOf(event.streamId),
          position.toString(),
          cause === 'webhook_deleted',
          after,
        ]);
        return rows;
      },
      keyOf: ({ delivery_id }) => delivery_id,
      firstKey: FIRST,
    },
    {
      stream: deliveries,
      decisionOn: ({ delivery_id: id }) => ({
        id,
        command: systemCommand(tenantId, 'cancel', event.id, id),
        decide: (delivery) => cancel(delivery, cause),
      }),
    },
  );
}

/**
 * Deliveries that were requested after the event are not cancelled, because a test may be sent to a disabled webhook.
 */
const PENDING = `SELECT delivery_id FROM webhooks.queue
  WHERE webhook_id = $1 AND position < $2 AND (origin <> 'test' OR $3) AND delivery_id > $4
  ORDER BY delivery_id LIMIT ${PAGE_DELIVERIES}`;

/** The delivery that a manual retry schedules: the same event and message id, with a new timestamp. */
import type { Command } from '@cardea/event-store';
import { uuidV5 } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { bodyOf, dataOf } from '../body.ts';
import { type Delivery, streamOf } from '../delivery.ts';
import { schedule } from '../schedule-delivery.ts';

const FIELD = 'body';

export async function manualDelivery(
  { sealer }: Pick<ServiceDependencies, 'sealer'>,
  of: {
    readonly tenantId: string;
    /** The id of the delivery that is sent again. */
    readonly deliveryId: string;
    readonly delivery: Exclude<Delivery, { readonly status: 'absent' }>;
    readonly command: Command;
  },
): Promise<{ readonly id: string; readonly scheduled: ReturnType<typeof schedule> } | undefined> {
  const { tenantId, deliveryId, delivery, command } = of;
  const { webhookId, subject, event } = delivery;
  const before = await sealer.open(delivery.body, {
    streamId: streamOf(deliveryId),
    field: FIELD,
  });
  if (before === null) return undefined;
  const id = uuidV5(command.id, webhookId);
  const place = { subject, streamId: streamOf(id), field: FIELD };
  const body = await sealer.seal(tenantId, place, bodyOf(event, command.now, dataOf(before)));
  if (body === 'erased') return undefined;
  const scheduled = schedule({
    webhook_id: webhookId,
    app_id: delivery.appId,
    event,
    origin: 'manual',
    message_id: delivery.messageId,
    source: null,
    retry_of: deliveryId,
    subject,
    body,
    attempts: 1,
    run_at: command.now.toISOString(),
  });
  return { id, scheduled };
}

/**
 * Cancels the rest of a delivery's schedule after a manual retry of it has succeeded, so that the event does not arrive
 * twice.
 */
import type { Recorded, Streams } from '@cardea/event-store';
import { policy, type ServiceDependencies } from '@cardea/service';
import { cancel } from './cancel-delivery.ts';
import { type DeliveryFact, deliveries, deliveryIdOf } from './delivery.ts';

type Dependencies = {
  readonly streams: Streams;
  readonly systemCommand: ServiceDependencies['systemCommand'];
};

export const supersedeOnManualSuccess = (needs: Dependencies) =>
  policy<DeliveryFact>()({
    name: 'supersede_on_manual_success',
    on: {
      DeliverySucceeded: async (event) => {
        if (event.data.origin === 'manual') await supersede(needs, event);
      },
    },
  });

async function supersede(
  { streams, systemCommand }: Dependencies,
  event: Recorded<DeliveryFact, 'DeliverySucceeded'>,
): Promise<void> {
  const { tenantId } = event.metadata;
  const id = deliveryIdOf(event.streamId);
  const { state } = await streams.load(deliveries, { tenantId, id });
  // A message has the id of the delivery with which it was first sent.
  if (state.status === 'absent' || state.messageId === id) return;
  const command = systemCommand(tenantId, 'supersede', event.id);
  await streams.decideOn(deliveries, state.messageId, command, (delivery) =>
    cancel(delivery, 'superseded'),
  );
}

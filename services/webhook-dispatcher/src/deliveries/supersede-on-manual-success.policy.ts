/** When a manual retry has arrived, what is left of the original's schedule would only arrive twice. */
import type { Streams } from '@cardea/event-store';
import type { Policy, ServiceNeeds } from '@cardea/service';
import { cancel } from './cancel-delivery.ts';
import { type DeliverySucceeded, deliveries, deliveryIdOf } from './delivery.ts';

type Needs = {
  readonly streams: Streams;
  readonly systemCommand: ServiceNeeds['systemCommand'];
};

export const supersedeOnManualSuccess = ({ streams, systemCommand }: Needs): Policy => ({
  name: 'supersede_on_manual_success',
  on: ['DeliverySucceeded'],
  handle: async (event) => {
    const { origin } = event.data as unknown as DeliverySucceeded['data'];
    if (origin !== 'manual') return;
    const { tenantId } = event.metadata;
    const id = deliveryIdOf(event.streamId);
    const { state } = await streams.load(deliveries, { tenantId, id });
    // A message has the id of the delivery that it was first sent as.
    if (state.status === 'absent' || state.messageId === id) return;
    const command = systemCommand(tenantId, 'supersede', event.id);
    await streams.decideOn(deliveries, state.messageId, command, (delivery) =>
      cancel(delivery, 'superseded'),
    );
  },
});

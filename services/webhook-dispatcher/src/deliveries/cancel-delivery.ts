/** Takes back what is left of a delivery; one that has ended stays as it ended. */
import { accept, type Decision } from '@cardea/event-store';
import type { CancelCause, Delivery, DeliveryCancelled } from './delivery.ts';

export const cancel = (
  delivery: Delivery,
  cause: CancelCause,
): Decision<DeliveryCancelled, never> =>
  delivery.status === 'pending' ? accept({ type: 'DeliveryCancelled', data: { cause } }) : accept();

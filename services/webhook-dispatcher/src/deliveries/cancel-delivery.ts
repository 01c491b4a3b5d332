/** Cancels the remaining attempts of a delivery. A delivery that has ended is unchanged. */
import { accept, type Decision } from '@cardea/event-store';
import type { CancelCause, Delivery, DeliveryCancelled } from './delivery.ts';

export const cancel = (
  delivery: Delivery,
  cause: CancelCause,
): Decision<DeliveryCancelled, never> =>
  delivery.status === 'pending' ? accept({ type: 'DeliveryCancelled', data: { cause } }) : accept();

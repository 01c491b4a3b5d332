/** Schedules a delivery once. A later command with the same id finds it and changes nothing. */
import { accept, type Decision } from '@cardea/event-store';
import type { Delivery, DeliveryScheduled } from './delivery.ts';

export const schedule =
  (data: DeliveryScheduled['data']) =>
  (delivery: Delivery): Decision<DeliveryScheduled, never> =>
    delivery.status === 'absent' ? accept({ type: 'DeliveryScheduled', data }) : accept();

import { storedId } from '@cardea/runtime';

/** The id of a row of the delivery log. It contains delivery and attempt, and is opaque to clients. */
type DeliveryAttemptId = { readonly deliveryId: string; readonly n: number };

const FORM = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9]\d?)$/i;

export const printDeliveryAttemptId = ({ deliveryId, n }: DeliveryAttemptId): string =>
  `${deliveryId}.${n}`;

export function readDeliveryAttemptId(text: string): DeliveryAttemptId | undefined {
  const [, deliveryId, n] = FORM.exec(text) ?? [];
  return deliveryId === undefined ? undefined : { deliveryId: storedId(deliveryId), n: Number(n) };
}

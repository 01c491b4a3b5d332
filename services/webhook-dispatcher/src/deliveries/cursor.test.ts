import { describe, expect, it } from 'vitest';
import { printCursor, readCursor } from './cursor.ts';
import { printDeliveryAttemptId, readDeliveryAttemptId } from './delivery-attempt-id.ts';

const deliveryId = '0198f3c2-0000-7000-8000-000000000001';
const cursor = { attemptedAt: '2030-01-01T00:00:00.123Z', deliveryId, n: 6 };

describe('places in the delivery log', () => {
  it('are read as they were printed, and only so', () => {
    expect(readCursor(printCursor(cursor))).toEqual(cursor);
    expect(readDeliveryAttemptId(printDeliveryAttemptId({ deliveryId, n: 6 }))).toEqual({
      deliveryId,
      n: 6,
    });
    for (const text of ['x', `${printCursor(cursor)}=`, printCursor({ ...cursor, n: 0 })]) {
      expect(readCursor(text)).toBeUndefined();
    }
    for (const text of [deliveryId, `${deliveryId}.0`, `${deliveryId}.01`, `${deliveryId}.1 `]) {
      expect(readDeliveryAttemptId(text)).toBeUndefined();
    }
  });
});

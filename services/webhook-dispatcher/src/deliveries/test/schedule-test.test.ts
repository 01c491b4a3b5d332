import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type DeliveryFact, deliveries } from '../delivery.ts';
import { scheduleTest } from './schedule-test.ts';

const body = { subject: 'webhook:w', box: 'x' };
const test = scheduleTest({
  webhookId: 'w',
  webhook: { appId: 'warehouse' },
  deliveryId: 'd',
  body,
  attempts: 3,
  now: new Date('2026-01-01T12:00:00.000Z'),
});
const scheduled: DeliveryFact = {
  type: 'DeliveryScheduled',
  data: {
    webhook_id: 'w',
    app_id: 'warehouse',
    event: 'webhook.test',
    origin: 'test',
    message_id: 'd',
    source: null,
    retry_of: null,
    subject: 'webhook:w',
    body,
    attempts: 3,
    run_at: '2026-01-01T12:00:00.000Z',
  },
};

describe('a test of a webhook', () => {
  it('is due at once, tells of no event, and is scheduled once', () => {
    given(deliveries).when(test).accepts(scheduled);
    given(deliveries, scheduled).when(test).accepts();
  });
});

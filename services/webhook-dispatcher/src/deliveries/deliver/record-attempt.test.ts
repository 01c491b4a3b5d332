import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { cancel } from '../cancel-delivery.ts';
import { type DeliveryScheduled, deliveries } from '../delivery.ts';
import { schedule } from '../schedule-delivery.ts';
import { type Outcome, recordAttempt } from './record-attempt.ts';

const delaysMs = [30_000, 120_000, 600_000, 1_800_000, 7_200_000];
const ENDED = new Date('2030-01-01T00:00:01.000Z');
const sealed = { subject: 'webhook:w', box: 'box' };

const scheduled = (attempts: number): DeliveryScheduled => ({
  type: 'DeliveryScheduled',
  data: {
    webhook_id: 'w',
    app_id: null,
    event: 'user.created',
    origin: attempts === 1 ? 'manual' : 'event',
    message_id: 'd',
    source: null,
    retry_of: null,
    subject: 'webhook:w',
    body: sealed,
    attempts,
    run_at: '2030-01-01T00:00:00.000Z',
  },
});

const outcome = (n: number, status: number): Outcome => ({
  n,
  status,
  error: status === 0 ? 'timeout' : null,
  durationMs: 1_000,
  startedAt: new Date('2030-01-01T00:00:00.000Z'),
  endedAt: ENDED,
  excerpt: null,
});

const attempted = (n: number, status: number) => ({
  webhook_id: 'w',
  app_id: null,
  event: 'user.created' as const,
  origin: 'event' as const,
  n,
  status_code: status,
  error: status === 0 ? 'timeout' : null,
  duration_ms: 1_000,
  started_at: '2030-01-01T00:00:00.000Z',
  excerpt: null,
});

const failure = (n: number) =>
  ({ type: 'DeliveryAttempted', data: { ...attempted(n, 500), next_at: 'then' } }) as const;
const failures = (count: number) => Array.from({ length: count }, (_, at) => failure(at + 1));

describe('an attempt', () => {
  it.each([200, 204, 299])('that is answered %s ends the delivery', (status) => {
    given(deliveries, scheduled(6))
      .when((delivery) => recordAttempt(delivery, outcome(1, status), { delaysMs, chance: 0 }))
      .accepts({ type: 'DeliverySucceeded', data: attempted(1, status) });
  });

  it.each([0, 199, 300, 410, 500])('that comes to %s is followed by another one', (status) => {
    const next_at = '2030-01-01T00:00:31.000Z';
    given(deliveries, scheduled(6))
      .when((delivery) => recordAttempt(delivery, outcome(1, status), { delaysMs, chance: 0 }))
      .accepts({ type: 'DeliveryAttempted', data: { ...attempted(1, status), next_at } });
  });

  it('R12 waits as the contract says, and two in a hundred longer at the most', () => {
    for (const [index, delayMs] of delaysMs.entries()) {
      for (const chance of [0, 0.5, 1]) {
        const { decision } = given(deliveries, scheduled(6), ...failures(index)).when((delivery) =>
          recordAttempt(delivery, outcome(index + 1, 500), { delaysMs, chance }),
        );
        const [event] = decision.events;
        if (event?.type !== 'DeliveryAttempted') throw new Error('another attempt follows');
        const waitMs = Date.parse(event.data.next_at ?? '') - ENDED.getTime();
        expect(waitMs).toBe(Math.ceil(delayMs * (1 + 0.02 * chance)));
      }
    }
  });

  it('that is the sixth to fail is the last', () => {
    given(deliveries, scheduled(6), ...failures(5))
      .when((delivery) => recordAttempt(delivery, outcome(6, 500), { delaysMs, chance: 0 }))
      .accepts({ type: 'DeliveryFailed', data: { ...attempted(6, 500), cause: 'exhausted' } });
  });

  it('by hand is made once', () => {
    given(deliveries, scheduled(1))
      .when((delivery) => recordAttempt(delivery, outcome(1, 500), { delaysMs, chance: 0 }))
      .accepts({
        type: 'DeliveryFailed',
        data: { ...attempted(1, 500), origin: 'manual', cause: 'single' },
      });
  });

  it('that two processes have made is recorded once', () => {
    given(deliveries, scheduled(6), failure(1))
      .when((delivery) => recordAttempt(delivery, outcome(1, 200), { delaysMs, chance: 0 }))
      .accepts();
  });

  it('that was under way when its delivery was cancelled is recorded, and is the last', () => {
    given(deliveries, scheduled(6), {
      type: 'DeliveryCancelled',
      data: { cause: 'webhook_disabled' },
    })
      .when((delivery) => recordAttempt(delivery, outcome(1, 500), { delaysMs, chance: 0 }))
      .accepts({ type: 'DeliveryAttempted', data: { ...attempted(1, 500), next_at: null } });
  });

  it('of nothing is refused', () => {
    given(deliveries)
      .when((delivery) => recordAttempt(delivery, outcome(1, 200), { delaysMs, chance: 0 }))
      .refuses('delivery_not_found');
  });
});

describe('a delivery', () => {
  it('is scheduled once', () => {
    given(deliveries, scheduled(6))
      .when(schedule(scheduled(6).data))
      .accepts();
  });

  it('is cancelled while it is pending, and not once it has ended', () => {
    const cancelled = { type: 'DeliveryCancelled', data: { cause: 'superseded' } } as const;
    given(deliveries, scheduled(6), failure(1))
      .when((delivery) => cancel(delivery, 'superseded'))
      .accepts(cancelled);
    given(deliveries, scheduled(6), { type: 'DeliverySucceeded', data: attempted(1, 200) })
      .when((delivery) => cancel(delivery, 'superseded'))
      .accepts();
    given(deliveries, scheduled(6), cancelled)
      .when((delivery) => cancel(delivery, 'superseded'))
      .accepts();
  });
});

/** Records the result of a delivery attempt: done, tried again later, or failed for good. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Delivery, DeliveryAttemptFact } from '../delivery.ts';

/** The maximum random delay after the scheduled time of the next attempt, as a fraction. */
const JITTER_MAX = 0.02;

export type Outcome = {
  readonly n: number;
  readonly status: number;
  readonly error: string | null;
  readonly durationMs: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly excerpt: DeliveryAttemptFact['data']['excerpt'];
};

type Schedule = {
  /** Pauses after the first, second, … attempt. */
  readonly delaysMs: readonly number[];
  /** A random number from 0 to 1. */
  readonly chance: number;
};

const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

export function recordAttempt(
  delivery: Delivery,
  outcome: Outcome,
  { delaysMs, chance }: Schedule,
): Decision<DeliveryAttemptFact, 'delivery_not_found'> {
  if (delivery.status === 'absent') return refuse('delivery_not_found');
  // Another process sent the same attempt after this one's lease had expired, and recorded it first.
  if (outcome.n <= delivery.attemptsMade) return accept();
  const { webhookId, appId, event, origin, attempts } = delivery;
  const attempt = {
    webhook_id: webhookId,
    app_id: appId,
    event,
    origin,
    n: outcome.n,
    status_code: outcome.status,
    error: outcome.error,
    duration_ms: outcome.durationMs,
    started_at: outcome.startedAt.toISOString(),
    excerpt: outcome.excerpt,
  };
  if (isSuccess(outcome.status)) return accept({ type: 'DeliverySucceeded', data: attempt });
  if (delivery.status !== 'pending') {
    return accept({ type: 'DeliveryAttempted', data: { ...attempt, next_at: null } });
  }
  const delayMs = delaysMs[outcome.n - 1];
  if (outcome.n >= attempts || delayMs === undefined) {
    const cause = attempts === 1 ? 'single' : 'exhausted';
    return accept({ type: 'DeliveryFailed', data: { ...attempt, cause } });
  }
  const waitMs = Math.ceil(delayMs * (1 + JITTER_MAX * chance));
  const next_at = new Date(outcome.endedAt.getTime() + waitMs).toISOString();
  return accept({ type: 'DeliveryAttempted', data: { ...attempt, next_at } });
}

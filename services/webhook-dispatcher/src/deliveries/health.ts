/** How a webhook fares: since when it fails, how often, and whether it answers at all. */
export type Health = {
  readonly failingSince: string | null;
  /** Since it began to fail. */
  readonly failures: number;
  /** In a row, attempts that got no answer of whatever status. */
  readonly unanswered: number;
  readonly lastSuccessAt: string | null;
};

const WELL: Health = {
  failingSince: null,
  failures: 0,
  unanswered: 0,
  lastSuccessAt: null,
};

/** So many attempts without an answer, and one attempt at a time is made until an answer comes. */
export const CIRCUIT_OPENS_AT = 10;

type Attempt = { readonly success: boolean; readonly status: number; readonly startedAt: string };

/** An attempt, or that the webhook was enabled again: then only attempts from now on count. */
export type HealthFact = Attempt | 'enabled';

/**
 * Applies a series of facts to a health that is unknown here. `health` counts from zero: the caller adds it
 * to the stored health, or replaces that one where it no longer matters.
 */
export type HealthChange = {
  readonly health: Health;
  /** `failingSince` and `failures` of before do not matter. */
  readonly isFresh: boolean;
  /** `unanswered` of before does not matter. */
  readonly isAnswered: boolean;
};

export const NO_CHANGE: HealthChange = { health: WELL, isFresh: false, isAnswered: false };

export function healthAfter({ health, isFresh, isAnswered }: HealthChange, fact: HealthFact) {
  if (fact === 'enabled') {
    return { health: { ...health, failingSince: null, failures: 0 }, isFresh: true, isAnswered };
  }
  const { success, status, startedAt } = fact;
  if (success) {
    return { health: { ...WELL, lastSuccessAt: startedAt }, isFresh: true, isAnswered: true };
  }
  const hasAnswered = status !== 0;
  return {
    health: {
      ...health,
      failingSince: health.failingSince ?? startedAt,
      failures: health.failures + 1,
      unanswered: hasAnswered ? 0 : health.unanswered + 1,
    },
    isFresh,
    isAnswered: isAnswered || hasAnswered,
  };
}

/** The index of the webhooks that may be given up names the same number. */
export const FAILURES_MIN = 20;
export const DAY_MS = 86_400_000;

/** It failed for so many days that nobody can be there; never with 0 days. */
export function isGivenUp(
  { failingSince, failures }: Pick<Health, 'failingSince' | 'failures'>,
  now: Date,
  days: number,
): boolean {
  if (days === 0 || failingSince === null || failures < FAILURES_MIN) return false;
  return now.getTime() - Date.parse(failingSince) >= days * DAY_MS;
}

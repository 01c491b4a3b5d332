/** The health of a webhook: since when it has failed, how often, and whether it responds at all. */
export type Health = {
  readonly failingSince: string | null;
  /** The number of failures since it began to fail. */
  readonly failures: number;
  /** Consecutive attempts without any response. */
  readonly unanswered: number;
  readonly lastSuccessAt: string | null;
};

const WELL: Health = {
  failingSince: null,
  failures: 0,
  unanswered: 0,
  lastSuccessAt: null,
};

/** After this many attempts without a response, only one attempt is made at a time until a response arrives. */
export const CIRCUIT_OPENS_AT = 10;

type Attempt = { readonly success: boolean; readonly status: number; readonly startedAt: string };

/** An attempt, or the fact that the webhook was enabled again, after which only later attempts count. */
export type HealthFact = Attempt | 'enabled';

/**
 * The effect of a series of facts on an unknown health. `health` counts from zero. The caller adds it to the stored
 * health, or replaces the stored one if that no longer matters.
 */
export type HealthChange = {
  readonly health: Health;
  /** Whether the earlier `failingSince` and `failures` no longer matter. */
  readonly isFresh: boolean;
  /** Whether the earlier `unanswered` no longer matters. */
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

/** The index of webhooks that may be given up uses the same number. */
export const FAILURES_MIN = 20;
export const DAY_MS = 86_400_000;

/** Whether the webhook has failed for so many days that it is given up. If `days` is 0, it is never given up. */
export function isGivenUp(
  { failingSince, failures }: Pick<Health, 'failingSince' | 'failures'>,
  now: Date,
  days: number,
): boolean {
  if (days === 0 || failingSince === null || failures < FAILURES_MIN) return false;
  return now.getTime() - Date.parse(failingSince) >= days * DAY_MS;
}

/** How a webhook fares: since when it fails, how often, and whether it answers at all. */
export type Health = {
  readonly failingSince: string | null;
  /** Since it began to fail. */
  readonly failures: number;
  /** In a row, attempts that got no answer of whatever status. */
  readonly unanswered: number;
  readonly lastSuccessAt: string | null;
};

export const WELL: Health = {
  failingSince: null,
  failures: 0,
  unanswered: 0,
  lastSuccessAt: null,
};

/** So many attempts without an answer, and one attempt at a time is made until an answer comes. */
export const CIRCUIT_OPENS_AT = 10;

export function afterAttempt(
  health: Health,
  attempt: { readonly success: boolean; readonly status: number; readonly startedAt: string },
): Health {
  const { success, status, startedAt } = attempt;
  if (success) return { ...WELL, lastSuccessAt: startedAt };
  return {
    ...health,
    failingSince: health.failingSince ?? startedAt,
    failures: health.failures + 1,
    unanswered: status === 0 ? health.unanswered + 1 : 0,
  };
}

/** Enabled again: only attempts from now on count. */
export const afresh = (health: Health): Health => ({
  ...health,
  failingSince: null,
  failures: 0,
});

const FAILURES_MIN = 20;
const DAY_MS = 86_400_000;

/** It failed for so many days that nobody can be there; never with 0 days. */
export function isGivenUp(
  { failingSince, failures }: Pick<Health, 'failingSince' | 'failures'>,
  now: Date,
  days: number,
): boolean {
  if (days === 0 || failingSince === null || failures < FAILURES_MIN) return false;
  return now.getTime() - Date.parse(failingSince) >= days * DAY_MS;
}

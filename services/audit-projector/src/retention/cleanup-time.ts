/** Computes when the daily clean-up runs: once a day, within an hour from 03:00 UTC. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const STARTS_AT_MS = 3 * HOUR_MS;
export const CLEANUP_DELAY_MS_MAX = HOUR_MS;

/** A UTC date, `2026-01-31`. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Whether the clean-up is due. If no process ran in a night, it is due afterwards. */
export function isCleanupDue(of: {
  readonly now: Date;
  readonly lastDay: string;
  readonly delayMs: number;
}): boolean {
  const sinceMidnightMs = of.now.getTime() % DAY_MS;
  return dayOf(of.now) > of.lastDay && sinceMidnightMs >= STARTS_AT_MS + of.delayMs;
}

const DAYS_DEFAULT = 90;
const DAYS_MIN = 7;
const DAYS_MAX = 365;
/** No tenant keeps rows longer than this, so older partitions can be dropped as a whole. */
export const PARTITION_DAYS = DAYS_MAX + 1;

/** Rows before this time exceed their tenant's retention. */
export function keptSince(now: Date, days: number | null): Date {
  const kept = Math.min(DAYS_MAX, Math.max(DAYS_MIN, days ?? DAYS_DEFAULT));
  return daysBefore(now, kept);
}

export const daysBefore = (now: Date, days: number): Date =>
  new Date(now.getTime() - days * DAY_MS);

/** Rows after this time exceed no tenant's retention. */
export const earliestKeptSince = (now: Date): Date => daysBefore(now, DAYS_MIN);

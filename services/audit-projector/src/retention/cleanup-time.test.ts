import { describe, expect, it } from 'vitest';
import { isCleanupDue, keptSince } from './cleanup-time.ts';

const at = (time: string) => new Date(`2026-03-10T${time}Z`);

describe('the clean-up of the audit log', () => {
  it.each([
    ['02:59:59', '2026-03-09', 0, false],
    ['03:00:00', '2026-03-09', 0, true],
    ['03:29:59', '2026-03-09', 1_800_000, false],
    ['03:30:00', '2026-03-09', 1_800_000, true],
    ['23:00:00', '2026-03-09', 1_800_000, true],
    ['03:30:00', '2026-03-10', 0, false],
    ['04:00:00', '2026-03-01', 3_600_000, true],
  ])('at %s, after one on %s and %i ms of delay: %s', (time, lastDay, delayMs, due) => {
    expect(isCleanupDue({ now: at(time), lastDay, delayMs })).toBe(due);
  });

  it.each([
    [1, 7],
    [7, 7],
    [90, 90],
    [365, 365],
    [1_000, 365],
    [null, 90],
  ])('keeps rows for %s days as %i', (days, kept) => {
    const now = at('03:00:00');
    expect(now.getTime() - keptSince(now, days).getTime()).toBe(kept * 24 * 3_600_000);
  });
});

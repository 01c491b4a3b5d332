import { describe, expect, it } from 'vitest';
import { type HealthFact, healthAfter, isGivenUp, NO_CHANGE } from './health.ts';

const failed = (startedAt: string, status = 500) => ({ success: false, status, startedAt });
const FIRST = '2030-01-01T00:00:00.000Z';
const dayFive = new Date('2030-01-06T00:00:00.000Z');
const changeBy = (...facts: readonly HealthFact[]) => facts.reduce(healthAfter, NO_CHANGE);
const failing = changeBy(...Array.from({ length: 20 }, () => failed(FIRST))).health;
const WELL = NO_CHANGE.health;

describe('the health of a webhook', () => {
  it('counts failures since the first, and answers apart from silence', () => {
    const silent = changeBy(failed(FIRST, 0), failed('later', 0));
    expect(silent).toEqual({
      health: { ...WELL, failingSince: FIRST, failures: 2, unanswered: 2 },
      isFresh: false,
      isAnswered: false,
    });
    expect(healthAfter(silent, failed('later', 404))).toMatchObject({
      health: { failures: 3, unanswered: 0 },
      isFresh: false,
      isAnswered: true,
    });
  });

  it('webhooks 18 is given up after five days of nothing but failures', () => {
    expect(isGivenUp(failing, dayFive, 5)).toBe(true);
    expect(isGivenUp(failing, new Date(dayFive.getTime() - 1), 5)).toBe(false);
    expect(isGivenUp({ ...failing, failures: 19 }, dayFive, 5)).toBe(false);
    expect(isGivenUp(failing, dayFive, 0)).toBe(false);
  });

  it('webhooks 18 starts afresh with a success, and when the webhook is enabled again', () => {
    const success = { success: true, status: 200, startedAt: 'now' };
    const succeeded = changeBy(failed(FIRST, 0), success);
    expect(succeeded.health).toEqual({ ...WELL, lastSuccessAt: 'now' });
    expect(succeeded).toMatchObject({ isFresh: true, isAnswered: true });
    const enabled = changeBy(failed(FIRST, 0), 'enabled', failed('later', 0));
    expect(enabled).toEqual({
      health: { ...WELL, failingSince: 'later', failures: 1, unanswered: 2 },
      isFresh: true,
      isAnswered: false,
    });
  });
});

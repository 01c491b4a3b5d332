import { describe, expect, it } from 'vitest';
import { afresh, afterAttempt, isGivenUp, WELL } from './health.ts';

const failed = (startedAt: string, status = 500) => ({ success: false, status, startedAt });
const FIRST = '2030-01-01T00:00:00.000Z';
const dayFive = new Date('2030-01-06T00:00:00.000Z');
const failing = Array.from({ length: 20 }).reduce<typeof WELL>(
  (health) => afterAttempt(health, failed(FIRST)),
  WELL,
);

describe('the health of a webhook', () => {
  it('counts failures since the first, and answers apart from silence', () => {
    const silent = afterAttempt(afterAttempt(WELL, failed(FIRST, 0)), failed('later', 0));
    expect(silent).toEqual({ ...WELL, failingSince: FIRST, failures: 2, unanswered: 2 });
    expect(afterAttempt(silent, failed('later', 404))).toMatchObject({
      failures: 3,
      unanswered: 0,
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
    expect(afterAttempt(failing, success)).toEqual({ ...WELL, lastSuccessAt: 'now' });
    expect(isGivenUp(afresh(failing), dayFive, 5)).toBe(false);
  });
});

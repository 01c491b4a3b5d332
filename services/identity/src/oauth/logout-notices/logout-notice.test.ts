import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  type LogoutNoticeEvent,
  logoutNotices,
  queueLogoutNotice,
  recordNoticeAttempt,
} from './logout-notice.ts';

const now = new Date('2026-01-01T10:00:00.000Z');
const subject = { client_id: 'shop', user_id: 'ann', session_id: 'session' };
const queued: LogoutNoticeEvent = {
  type: 'LogoutNoticeQueued',
  data: { ...subject, at: now.toISOString() },
};
const deferred = (attempts: number, retry_at = ''): LogoutNoticeEvent => ({
  type: 'LogoutNoticeDeferred',
  data: { attempts, cause: 'timeout', retry_at },
});
const settled: LogoutNoticeEvent = {
  type: 'LogoutNoticeSettled',
  data: { attempts: 1, outcome: 'delivered' },
};
const attempt = (n: number, outcome: Parameters<typeof recordNoticeAttempt>[0]['outcome']) =>
  ({ n, outcome, now }) as const;
const failedBefore = (failed: number): readonly LogoutNoticeEvent[] => [
  queued,
  ...Array.from({ length: failed }, (_, at) => deferred(at + 1)),
];

describe('a logout notice', () => {
  it('is queued once, however often its cause is handled', () => {
    given(logoutNotices)
      .when((notice) => queueLogoutNotice(subject, now, notice))
      .accepts(queued);
    given(logoutNotices, queued, settled)
      .when((notice) => queueLogoutNotice(subject, now, notice))
      .accepts();
  });

  it.each([
    [1, '2026-01-01T10:00:05.000Z'],
    [2, '2026-01-01T10:00:30.000Z'],
    [3, '2026-01-01T10:02:00.000Z'],
  ])('is sent again some time after failure %i: %s [oauth 35]', (n, retry_at) => {
    given(logoutNotices, ...failedBefore(n - 1))
      .when((notice) => recordNoticeAttempt(attempt(n, 'timeout'), notice))
      .accepts(deferred(n, retry_at));
  });

  it.each([
    ['the fourth failure', 4, 'status', 4],
    ['an answer 400', 1, 'refused', 1],
    ['an hour without an attempt', 1, 'expired', 0],
  ] as const)('fails after %s [oauth 35]', (_name, n, cause, attempts) => {
    given(logoutNotices, ...failedBefore(n - 1))
      .when((notice) => recordNoticeAttempt(attempt(n, cause), notice))
      .accepts({ type: 'LogoutNoticeFailed', data: { ...subject, attempts, cause } });
  });

  it('is settled when it is taken, or has nobody to take it', () => {
    given(logoutNotices, queued)
      .when((notice) => recordNoticeAttempt(attempt(1, 'delivered'), notice))
      .accepts(settled);
    given(logoutNotices, queued)
      .when((notice) => recordNoticeAttempt(attempt(1, 'void'), notice))
      .accepts({ type: 'LogoutNoticeSettled', data: { attempts: 0, outcome: 'void' } });
  });

  it('counts the same attempt of two processes once', () => {
    for (const done of [settled, deferred(1)]) {
      const state = [queued, done].reduce(logoutNotices.evolve, logoutNotices.initial);
      expect(recordNoticeAttempt(attempt(1, 'timeout'), state)).toEqual({
        accepted: true,
        events: [],
      });
    }
  });
});

import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import {
  FAILURES_MAX,
  type PendingSignInEvent,
  pendingSignIns,
  showSecond,
} from './pending-sign-in.ts';

const now = new Date('2026-01-01T10:00:00Z');
const at = now.toISOString();
const shown = (type: PendingSignInEvent['type'], failures: number): PendingSignInEvent => ({
  type,
  data: { user_id: 'ann', method: 'totp', failures, at },
});
const failed = (times: number) =>
  Array.from({ length: times }, (_, index) => shown('SecondFactorFailed', index + 1));
const showing = (isRight: boolean, ...before: readonly PendingSignInEvent[]) =>
  given(pendingSignIns, ...before).when((pending) =>
    showSecond({ userId: 'ann', method: 'totp', isRight, now }, pending),
  );

describe('a sign-in that waits for its second factor', () => {
  it('is met by a right code, and completes once', () => {
    showing(true).accepts(shown('SecondFactorMet', 0));
    showing(true, ...failed(4)).accepts(shown('SecondFactorMet', 4));
    showing(true, shown('SecondFactorMet', 0)).refuses('invalid_mfa_token');
    showing(false, shown('SecondFactorMet', 0)).refuses('invalid_mfa_token');
  });

  it('counts wrong codes, and is over at the fifth, for a right one too', () => {
    showing(false).refuses('invalid_code', shown('SecondFactorFailed', 1));
    showing(false, ...failed(4)).refuses('invalid_code', shown('SecondFactorFailed', 5));
    showing(true, ...failed(FAILURES_MAX)).refuses('too_many_attempts');
    showing(false, ...failed(FAILURES_MAX)).refuses('too_many_attempts');
  });
});

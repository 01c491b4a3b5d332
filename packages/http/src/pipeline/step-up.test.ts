import { describe, expect, it } from 'vitest';
import { stepUpHeaders, withoutRecentSignIn } from './authorize.ts';

const now = new Date(1_000_000 * 1_000);
const at = (authTime: number | null, clientId: string | null = null) => ({ authTime, clientId });
const LATELY = 1_000_000 - 599;
const LONG_AGO = 1_000_000 - 600;

describe('a call that asks for a recent sign-in', () => {
  it('P2 takes what is younger than ten minutes, and refuses older ones and none with what to do', () => {
    const of = { stepUp: 'users', now } as const;
    expect(withoutRecentSignIn(at(LATELY), of)).toBeUndefined();
    expect(withoutRecentSignIn(at(LATELY, 'app'), of)).toBeUndefined();
    for (const old of [at(LONG_AGO), at(null), at(LONG_AGO, 'app')]) {
      const refusal = { status: 401, code: 'step_up_required', headers: stepUpHeaders(600) };
      expect(withoutRecentSignIn(old, of)).toMatchObject(refusal);
    }
  });

  it('P2 asks applications alone, or nobody, where its contract says so', () => {
    const applications = { stepUp: 'applications', now } as const;
    expect(withoutRecentSignIn(at(LONG_AGO), applications)).toBeUndefined();
    expect(withoutRecentSignIn(at(LONG_AGO, 'app'), applications)?.status).toBe(401);
    expect(withoutRecentSignIn(at(null, 'app'), { stepUp: 'none', now })).toBeUndefined();
  });
});

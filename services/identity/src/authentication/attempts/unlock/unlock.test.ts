import { describe, expect, it } from 'vitest';
import {
  blockOf,
  FAILURES_PER_PREFIX_MAX,
  levelOf,
  recordFailure,
  type Signin,
  signins,
} from '../lockout.ts';
import { unlock } from './unlock.ts';

const now = new Date('2026-01-01T10:00:00Z');
const failure = {
  ...{ userId: 'ann', method: 'password', prefix: 'home', now },
  reason: 'invalid_credentials',
} as const;
const failed = (signin: Signin, times: number): Signin =>
  times === 0
    ? signin
    : failed(recordFailure(failure, signin).events.reduce(signins.evolve, signin), times - 1);

describe('who was locked out', () => {
  it('may try again, and is locked out no sooner forgotten than before', () => {
    const locked = failed(signins.initial, FAILURES_PER_PREFIX_MAX);
    expect(blockOf(locked, 'home', now)).toBeDefined();
    const free = unlock({ userId: 'ann', now }, locked).events.reduce(signins.evolve, locked);
    expect(blockOf(free, 'home', now)).toBeUndefined();
    expect(levelOf(free, 'home')).toBe(1);
    expect(blockOf(failed(free, FAILURES_PER_PREFIX_MAX - 1), 'home', now)).toBeUndefined();
    const again = blockOf(failed(free, FAILURES_PER_PREFIX_MAX), 'home', now);
    expect(again?.until).toEqual(new Date('2026-01-01T10:05:00Z'));
  });

  it('and who never was, stays as they are', () => {
    expect(unlock({ userId: 'ann', now }, signins.initial).events).toEqual([]);
  });
});

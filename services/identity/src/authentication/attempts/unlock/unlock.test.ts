import { describe, expect, it } from 'vitest';
import {
  blockOf,
  clearingsOf,
  levelOf,
  pairCounter,
  type Signin,
  signins,
} from '../../../streams/signin.ts';
import { authenticationRelay } from '../../authentication-relay.ts';
import { FAILURES_PER_PREFIX_MAX, recordFailure } from '../lockout.ts';
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

  it('P6 may try again also where only counters beside the stream refused', () => {
    const cleared = (signin: Signin) =>
      unlock({ userId: 'ann', now }, signin).events.reduce(signins.evolve, signin);
    const once = cleared(signins.initial);
    expect([clearingsOf(signins.initial), clearingsOf(once), clearingsOf(cleared(once))]).toEqual([
      0, 1, 2,
    ]);
    expect(pairCounter(once, 'home')).not.toBe(pairCounter(signins.initial, 'home'));
  });

  it('is told to others, unlike whoever proved who they are', () => {
    const [event] = unlock({ userId: 'ann', now }, signins.initial).events;
    const published = (data: object | undefined) =>
      authenticationRelay['SignInCleared']?.({ ...event, data } as never, {} as never);
    expect(published(event?.data)).toEqual({ type: 'user.unlocked', data: { id: 'ann' } });
    expect(published({ ...event?.data, by: undefined })).toBeUndefined();
  });
});

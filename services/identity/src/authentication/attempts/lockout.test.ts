import { describe, expect, it } from 'vitest';
import {
  blockOf,
  clearFailures,
  FAILURES_PER_PREFIX_MAX,
  type Failure,
  levelOf,
  recordBlocked,
  recordFailure,
  type Signin,
  signins,
} from './lockout.ts';

const start = new Date('2026-01-01T10:00:00Z').getTime();
const minute = (minutes: number) => new Date(start + minutes * 60_000);
const failure = (change: Partial<Failure> = {}): Failure => ({
  userId: null,
  method: 'password',
  reason: 'invalid_credentials',
  prefix: 'home',
  now: minute(0),
  ...change,
});
const fail = (signin: Signin, change: Partial<Failure> = {}): Signin =>
  recordFailure(failure(change), signin).events.reduce(signins.evolve, signin);
const failTimes = (times: number, signin: Signin, change: Partial<Failure> = {}): Signin =>
  Array.from({ length: times }).reduce<Signin>((before) => fail(before, change), signin);

describe('failing to sign in', () => {
  it('closes a network out at the tenth miss, for a minute, then for longer', () => {
    let signin = failTimes(FAILURES_PER_PREFIX_MAX - 1, signins.initial);
    expect(blockOf(signin, 'home', minute(0))).toBeUndefined();
    let minutes = 0;
    for (const blocked of [1, 5, 15, 60, 60]) {
      signin = failTimes(1, signin, { now: minute(minutes) });
      expect(blockOf(signin, 'home', minute(minutes))?.until).toEqual(minute(minutes + blocked));
      minutes += blocked;
      expect(blockOf(signin, 'home', minute(minutes))).toBeUndefined();
      signin = failTimes(FAILURES_PER_PREFIX_MAX - 1, signin, { now: minute(minutes) });
    }
  });

  it('forgets misses that are older than a quarter of an hour', () => {
    const old = failTimes(9, signins.initial);
    const signin = fail(old, { now: minute(16) });
    expect(blockOf(signin, 'home', minute(16))).toBeUndefined();
  });

  it('leaves other networks alone', () => {
    const signin = failTimes(10, signins.initial);
    expect(blockOf(signin, 'office', minute(0))).toBeUndefined();
    expect(levelOf(signin, 'home')).toBe(1);
  });

  it('at a hundred misses in an hour closes out all but known networks', () => {
    let signin = clearFailures({ userId: 'ann', prefix: 'office' }, signins.initial).events.reduce(
      signins.evolve,
      signins.initial,
    );
    for (let network = 0; network < 20; network += 1) {
      signin = failTimes(5, signin, { prefix: `bot ${network}` });
    }
    expect(blockOf(signin, 'somewhere', minute(0))?.until).toEqual(minute(15));
    expect(blockOf(signin, 'office', minute(0))).toBeUndefined();
  });

  it('remembers no more than twenty networks, the most recent ones', () => {
    let signin: Signin = signins.initial;
    for (let network = 0; network < 30; network += 1)
      signin = fail(signin, { prefix: `${network}` });
    expect(signin.status === 'seen' && signin.prefixes.map(({ prefix }) => prefix)).toEqual(
      Array.from({ length: 20 }, (_, index) => `${index + 10}`),
    );
  });

  it('records once per block that somebody ran into it', () => {
    const blocked = failTimes(10, signins.initial);
    const met = recordBlocked(failure(), blocked);
    expect(met.events).toMatchObject([{ type: 'SignInFailed', data: { reason: 'blocked' } }]);
    const known = met.events.reduce(signins.evolve, blocked);
    expect(recordBlocked(failure(), known).events).toEqual([]);
  });

  it('is forgotten by a success from the same network', () => {
    const signin = failTimes(9, signins.initial);
    const cleared = clearFailures({ userId: 'ann', prefix: 'home' }, signin).events.reduce(
      signins.evolve,
      signin,
    );
    expect(blockOf(fail(cleared), 'home', minute(0))).toBeUndefined();
    expect(clearFailures({ userId: 'ann', prefix: 'home' }, cleared).events).toEqual([]);
  });
});

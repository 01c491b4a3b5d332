import { describe, expect, it } from 'vitest';
import {
  blockOf,
  levelOf,
  type Signin,
  secondFactorBlockOf,
  signins,
} from '../../streams/signin.ts';
import {
  clearFailures,
  FAILURES_PER_PREFIX_MAX,
  type Failure,
  openBlocks,
  recordBlocked,
  recordFailure,
  recordSecondFactorMiss,
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

  const knownFrom = (prefix: string, signin: Signin = signins.initial) =>
    clearFailures({ userId: 'ann', prefix }, signin).events.reduce(signins.evolve, signin);
  /** Each failure comes from a new network. */
  let networks = 0;
  const failFrom = (count: number, signin: Signin, now: Date) =>
    Array.from({ length: count }).reduce<Signin>((before) => {
      networks += 1;
      return fail(before, { prefix: `bot ${networks}`, now });
    }, signin);

  it('P7 blocks the account for all but known networks, each time longer and sooner', () => {
    let signin = knownFrom('office');
    let at = 0;
    for (const [failures, minutes] of [
      [100, 15],
      [20, 60],
      [20, 4 * 60],
      [20, 24 * 60],
      [20, 24 * 60],
    ] as const) {
      signin = failFrom(failures - 1, signin, minute(at));
      expect(blockOf(signin, 'somewhere', minute(at))).toBeUndefined();
      signin = failFrom(1, signin, minute(at));
      expect(blockOf(signin, 'somewhere', minute(at))?.until).toEqual(minute(at + minutes));
      expect(blockOf(signin, 'office', minute(at))).toBeUndefined();
      at += minutes;
    }
  });

  it('P7 lets no more than 160 guesses of one day be evaluated, and 20 of each day after it', () => {
    let signin: Signin = signins.initial;
    /** Returns the number of guesses that were evaluated. Each comes from a new network. */
    const guess = (now: Date, left: number): number => {
      networks += 1;
      const prefix = `bot ${networks}`;
      if (left === 0 || blockOf(signin, prefix, now) !== undefined) return 0;
      signin = fail(signin, { prefix, now });
      return 1 + guess(now, left - 1);
    };
    const guesses = [0, 1, 2].map((day) => {
      let evaluated = 0;
      for (let at = day * 1440; at < (day + 1) * 1440; at += 5) evaluated += guess(minute(at), 50);
      return evaluated;
    });
    expect(guesses[0]).toBeLessThanOrEqual(160);
    expect(Math.max(...guesses.slice(1))).toBeLessThanOrEqual(20);
  });

  it('P7 records each growth once, with the failure that brought it', () => {
    const before = failFrom(99, signins.initial, minute(0));
    const { events } = recordFailure(failure({ prefix: 'last', userId: 'ann' }), before);
    expect(events.map(({ data }) => data)).toMatchObject([
      { reason: 'invalid_credentials' },
      { reason: 'blocked', account_level: 1, blocked_until: minute(15).toISOString() },
    ]);
    const blocked = events.reduce(signins.evolve, before);
    const met = { ...failure({ prefix: 'other' }), until: minute(15) };
    expect(recordBlocked(met, blocked).events).toEqual([]);
  });

  it('P7 closes out a known network too once it was closed out by itself', () => {
    let signin = failTimes(10, knownFrom('home'), { prefix: 'home' });
    signin = failFrom(100, signin, minute(1));
    expect(blockOf(signin, 'home', minute(2))).toBeDefined();
    expect(blockOf(knownFrom('home', signin), 'home', minute(2))).toBeUndefined();
  });

  it('P7 counts wrong second factors by themselves: twenty, and five more for each longer block', () => {
    let signin: Signin = signins.initial;
    let at = 0;
    const miss = (now: Date) => {
      const of = { userId: 'ann', method: 'totp', prefix: 'home', now };
      const { events } = recordSecondFactorMiss(of, signin);
      signin = events.reduce(signins.evolve, signin);
      return events;
    };
    for (const [failures, minutes] of [
      [20, 15],
      [5, 60],
      [5, 4 * 60],
      [5, 24 * 60],
    ] as const) {
      for (let count = 1; count < failures; count += 1) expect(miss(minute(at))).toHaveLength(1);
      expect(secondFactorBlockOf(signin, minute(at))).toBeUndefined();
      expect(miss(minute(at))[1]?.data).toMatchObject({ method: 'totp', reason: 'blocked' });
      expect(secondFactorBlockOf(signin, minute(at))).toEqual(minute(at + minutes));
      expect(blockOf(signin, 'home', minute(at))).toBeUndefined();
      at += minutes;
    }
  });

  it('P7 is opened by a proof by mail or passkey, and second factors by a passkey alone', () => {
    let signin = failFrom(100, signins.initial, minute(0));
    for (let count = 0; count < 20; count += 1) {
      const miss = { userId: 'ann', method: 'totp', prefix: 'home', now: minute(0) };
      signin = recordSecondFactorMiss(miss, signin).events.reduce(signins.evolve, signin);
    }
    const opened = (by: 'mail' | 'passkey') =>
      openBlocks({ userId: 'ann', by, now: minute(1) }, signin).events.reduce(
        signins.evolve,
        signin,
      );
    const standing = (of: Signin) => [
      blockOf(of, 'somewhere', minute(1)) !== undefined,
      secondFactorBlockOf(of, minute(1)) !== undefined,
    ];
    expect(standing(signin)).toEqual([true, true]);
    expect(standing(opened('mail'))).toEqual([false, true]);
    expect(standing(opened('passkey'))).toEqual([false, false]);
    const again = failFrom(20, opened('passkey'), minute(1));
    expect(blockOf(again, 'somewhere', minute(1))?.until).toEqual(minute(61));
    expect(
      openBlocks({ userId: 'ann', by: 'mail', now: minute(1) }, signins.initial).events,
    ).toEqual([]);
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
    const met = recordBlocked({ ...failure(), until: minute(1) }, blocked);
    expect(met.events).toMatchObject([{ type: 'SignInFailed', data: { reason: 'blocked' } }]);
    const known = met.events.reduce(signins.evolve, blocked);
    expect(recordBlocked({ ...failure(), until: minute(1) }, known).events).toEqual([]);
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

/** Tests rules for every limit of identity, and for every place that charges one. */
import { globSync, readFileSync } from 'node:fs';
import { deriveFrom } from '@cardea/crypto';
import { fakeClock, inProcessCache, secret } from '@cardea/runtime';
import { type RateLimit, rateLimits } from '@cardea/service';
import { describe, expect, it } from 'vitest';
import {
  FAILURES_BY_IP,
  FAILURES_BY_PAIR,
  failuresByAccount,
} from '../authentication/attempts/verify-password.ts';
import { LIMITS } from './limits.ts';

const SECRETS = {
  JWT_SECRET: secret('bb22'.repeat(16)),
  JWT_SECRET_PREVIOUS: undefined,
  ENCRYPTION_KEY: secret('aa11'.repeat(16)),
  ENCRYPTION_KEY_PREVIOUS: undefined,
};
const KEY = '192.0.2.1';
/** Larger limits are tested in part. A rule that holds for 600 calls also holds for 30,000. */
const TRIED_MAX = 600;

const ALL: readonly RateLimit[] = [
  ...Object.values(LIMITS),
  ...[FAILURES_BY_IP, FAILURES_BY_PAIR],
  ...[failuresByAccount('password', 0), failuresByAccount('second_factor', 1)],
];
const named = (counts: RateLimit['counts']) =>
  ALL.filter((limit) => limit.counts === counts && limit.points <= TRIED_MAX).map(
    (limit) => [limit.name, limit] as const,
  );
const fresh = () => {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const cache = inProcessCache(clock);
  return { clock, limits: rateLimits({ cache, clock, derive: deriveFrom(SECRETS), factor: 1 }) };
};

describe('P6 each limit on misses', () => {
  it.each(named('misses'))(
    'lets right calls pass for ever, also after wrong ones: %s',
    async (_, limit) => {
      const { limits } = fresh();
      const attempt = (isRight: boolean) =>
        limits.attempt(
          [[limit, KEY]],
          async () => isRight,
          (answer) => answer,
        );
      for (let call = 1; call < limit.points; call += 1) {
        expect(await attempt(false)).toMatchObject({ allowed: true });
      }
      for (let call = 0; call < 2 * limit.points; call += 1) {
        expect(await attempt(true)).toMatchObject({ allowed: true });
      }
      expect(await attempt(false)).toMatchObject({ allowed: true });
      expect(await attempt(true)).toMatchObject({ allowed: false, isUsedUp: true });
    },
  );
});

describe('P6 each limit on calls', () => {
  it.each(named('calls'))('is not used up further by what it refuses: %s', async (_, limit) => {
    const { clock, limits } = fresh();
    const taken = async () => (await limits.take([limit, KEY])).allowed;
    for (let call = 0; call < limit.points; call += 1) expect(await taken()).toBe(true);
    for (let call = 0; call < limit.points; call += 1) expect(await taken()).toBe(false);
    await clock.advance(limit.windowMs);
    expect(await taken()).toBe(true);
  });
});

it('P6 each place that takes a limit on misses also ends what it took', () => {
  const onMisses = Object.entries(LIMITS)
    .filter(([, { counts }]) => counts === 'misses')
    .map(([name]) => name);
  const files = globSync('{services,packages}/*/src/**/*.ts', {
    exclude: (path) => String(path).includes('node_modules'),
  }).filter((file) => !/\.test\.ts$/.test(file));
  const open = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    const takesMisses = new RegExp(`\\.take\\(\\s*\\[LIMITS\\.(${onMisses.join('|')})\\b`);
    return takesMisses.test(text) && !/\.keep\(\)|\bsettle\(/.test(text);
  });
  expect(files.length).toBeGreaterThan(1_000);
  expect(open).toEqual([]);
});

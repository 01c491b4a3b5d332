import {
  type Cache,
  CacheUnavailable,
  fakeClock,
  inProcessCache,
  sharedTokenBucket,
} from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { counters } from './counters.ts';
import { INTERVAL_SECONDS, PACE } from './limits.ts';

describe('the pace of the poll route', () => {
  it('approval 18 is kept by who comes every five seconds, not by twenty at once', async () => {
    const clock = fakeClock('2026-01-01T10:00:00.000Z');
    const take = sharedTokenBucket(inProcessCache(clock), clock, PACE);
    for (let call = 0; call < 60; call++) {
      expect(await take('r1')).toBe(true);
      await clock.advance(INTERVAL_SECONDS * 1_000);
    }
    const burst = [];
    for (let call = 0; call < 20; call++) burst.push(await take('r1'));
    expect(burst.filter(Boolean)).toHaveLength(PACE.capacity);
    expect(await take('r2')).toBe(true);
  });

  it('lets one more come each two and a half seconds, and never twice the burst within a window', async () => {
    const clock = fakeClock('2026-01-01T10:00:00.000Z');
    const take = sharedTokenBucket(inProcessCache(clock), clock, PACE);
    let taken = 0;
    for (let second = 0; second <= 60; second++) {
      for (let call = 0; call < 20; call++) taken += (await take('r1')) ? 1 : 0;
      expect(taken).toBe(PACE.capacity + Math.floor((second * 1_000) / PACE.refillMs));
      await clock.advance(1_000);
    }
  });

  it('is one for all processes, and kept in each while the cache is away or back empty', async () => {
    const clock = fakeClock('2026-01-01T10:00:00.000Z');
    let shared: Cache | undefined = inProcessCache(clock);
    const cache: Pick<Cache, 'takeToken'> = {
      takeToken: async (...of) => {
        if (shared === undefined) throw new CacheUnavailable('away');
        return shared.takeToken(...of);
      },
    };
    const [here, there] = [1, 2].map(() => sharedTokenBucket(cache, clock, PACE)) as [Take, Take];
    for (let call = 0; call < PACE.capacity; call++) {
      expect(await (call % 3 === 0 ? there : here)('r1')).toBe(true);
    }
    expect([await here('r1'), await there('r1')]).toEqual([false, false]);
    shared = undefined;
    let away = 0;
    for (let call = 0; call < 20; call++) away += (await here('r1')) ? 1 : 0;
    expect(away).toBe(PACE.capacity / 3);
    shared = inProcessCache(clock);
    expect(await here('r1')).toBe(false);
  });
});
type Take = (key: string) => Promise<boolean>;

describe('a count per minute', () => {
  it('is kept in this process while the cache is away', async () => {
    const clock = fakeClock('2026-01-01T10:00:00.000Z');
    const increment = async () => {
      throw new CacheUnavailable('away');
    };
    const count = counters({ increment, get: increment }, clock);
    expect(await count.over('k', 1, 1_000)).toBeUndefined();
    expect(await count.over('k', 1, 1_000)).toBe(1_000);
    await clock.advance(1_000);
    expect(await count.over('k', 1, 1_000)).toBeUndefined();
  });
});

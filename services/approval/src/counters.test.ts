import { CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { counters } from './counters.ts';
import { PACE_CALLS_MAX, PACE_WINDOW_MS } from './limits.ts';

describe('the pace of the poll route', () => {
  it('approval 18 is kept by who comes every five seconds, not by twenty at once', async () => {
    const clock = fakeClock('2026-01-01T10:00:00.000Z');
    const count = counters(inProcessCache(clock), clock);
    const over = () => count.over('pace:r1', PACE_CALLS_MAX, PACE_WINDOW_MS);
    for (let call = 0; call < 60; call++) {
      expect(await over()).toBeUndefined();
      await clock.advance(5_000);
    }
    await clock.advance(PACE_WINDOW_MS);
    const burst = [];
    for (let call = 0; call < 20; call++) burst.push(await over());
    expect(burst.filter((ms) => ms !== undefined)).toHaveLength(20 - PACE_CALLS_MAX);
  });

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

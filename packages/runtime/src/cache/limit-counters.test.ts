import { describe, expect, it } from 'vitest';
import { fakeClock } from '../clock.ts';
import { type Cache, CacheUnavailable } from '../ports.ts';
import { inProcessCache } from './in-process-cache.ts';
import { limitCounters } from './limit-counters.ts';

const WINDOW_MS = 60_000;

function fixture() {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  let shared: Cache | undefined = inProcessCache(clock);
  const reached = (): Cache => {
    if (shared === undefined) throw new CacheUnavailable('away');
    return shared;
  };
  const cache: Pick<Cache, 'increment' | 'get'> = {
    increment: async (...args) => reached().increment(...args),
    get: async (key) => reached().get(key),
  };
  return {
    clock,
    here: limitCounters(cache, clock),
    there: limitCounters(cache, clock),
    lose: () => {
      shared = undefined;
    },
    comeBackEmpty: () => {
      shared = inProcessCache(clock);
    },
  };
}

describe('the counters of a limit', () => {
  it('are one count for all processes', async () => {
    const { here, there, clock } = fixture();
    expect(await here.add('k', 3, WINDOW_MS)).toEqual({ count: 3, remainingMs: WINDOW_MS });
    await clock.advance(1_000);
    expect(await there.add('k', 1, WINDOW_MS)).toEqual({ count: 4, remainingMs: 59_000 });
    expect([await here.read('k'), await there.read('k'), await here.read('other')]).toEqual([
      4, 4, 0,
    ]);
    await clock.advance(59_000);
    expect((await there.add('k', 1, WINDOW_MS)).count).toBe(1);
  });

  it('go on in each process while the cache is away, and do not start anew when it is back empty', async () => {
    const { here, lose, comeBackEmpty } = fixture();
    await here.add('k', 5, WINDOW_MS);
    for (let flap = 1; flap <= 3; flap += 1) {
      lose();
      expect((await here.add('k', 1, WINDOW_MS)).count).toBe(5 + flap * 2 - 1);
      comeBackEmpty();
      expect((await here.add('k', 1, WINDOW_MS)).count).toBe(5 + flap * 2);
    }
    expect(await here.read('k')).toBe(11);
  });

  it('give back no more than was taken, though the cache forgot it meanwhile', async () => {
    const { here, there, lose, comeBackEmpty } = fixture();
    await here.add('k', 2, WINDOW_MS);
    lose();
    comeBackEmpty();
    await here.add('k', -1, WINDOW_MS);
    expect(await here.read('k')).toBe(1);
    expect((await there.add('k', 1, WINDOW_MS)).count).toBe(1);
  });
});

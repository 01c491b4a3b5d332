import { describe, expect, it } from 'vitest';
import { fakeClock } from '../clock.ts';
import { CacheUnavailable } from '../ports.ts';
import { inProcessCache } from './in-process-cache.ts';

const clock = fakeClock('2026-01-01T00:00:00Z');

describe('the cache of one process', () => {
  it('forgets an entry at its time', async () => {
    const cache = inProcessCache(clock);
    await cache.setMany([
      { key: 'a', value: '1', ttlMs: 100 },
      { key: 'b', value: '2' },
    ]);
    await clock.advance(99);
    expect(await cache.getMany(['a', 'b', 'c'])).toEqual(['1', '2', undefined]);
    await clock.advance(1);
    expect(await cache.getMany(['a', 'b'])).toEqual([undefined, '2']);
    expect(await cache.setIfAbsent('a', '3', 100)).toBe(true);
    expect(await cache.setIfAbsent('a', '4', 100)).toBe(false);
  });

  it('gives an entry that is taken to one taker', async () => {
    const cache = inProcessCache(clock);
    await cache.set('code', 'x');
    const taken = await Promise.all([cache.take('code'), cache.take('code')]);
    expect(taken.filter((each) => each === 'x')).toHaveLength(1);
  });

  it('counts within a window that starts with the first increment', async () => {
    const cache = inProcessCache(clock);
    expect(await cache.increment('n', 2, 1000)).toEqual({ count: 2, remainingMs: 1000 });
    await clock.advance(400);
    expect(await cache.increment('n', 1, 1000)).toEqual({ count: 3, remainingMs: 600 });
    await clock.advance(600);
    expect((await cache.increment('n', 1, 1000)).count).toBe(1);
  });

  it('tells all subscribers until they leave', async () => {
    const cache = inProcessCache(clock);
    const heard: string[] = [];
    const listener = (message: string) => heard.push(message);
    const leave = await cache.subscribe('news', listener);
    await cache.subscribe('news', listener);
    await cache.publish('news', 'one');
    await leave();
    await cache.publish('news', 'two');
    expect(heard).toEqual(['one', 'one', 'two']);
  });

  it('gives back the room of what has ended while others are written', async () => {
    const cache = inProcessCache(clock, 20_000);
    await cache.set('standing', 'x');
    for (let n = 0; n < 4_000; n += 1) {
      await cache.set(`short ${n}`, 'y', 100);
      await clock.advance(1);
    }
    // If the expired entries still existed, these would displace the oldest entries.
    for (let n = 0; n < 17_000; n += 1) await cache.set(`long ${n}`, 'z', 10_000);
    expect(await cache.get('standing')).toBe('x');
  });

  it('drops the oldest hundredth beyond its limit, and no other', async () => {
    const cache = inProcessCache(clock, 1_000);
    for (let n = 0; n <= 1_000; n += 1) await cache.set(`${n}`, 'x');
    const found = await cache.getMany(['0', '9', '10', '999', '1000']);
    expect(found).toEqual([undefined, undefined, 'x', 'x', 'x']);
  });

  it('drops the oldest beyond its limit and refuses once closed', async () => {
    const cache = inProcessCache(clock, 2);
    for (const key of ['a', 'b', 'c']) await cache.set(key, key);
    expect(await cache.getMany(['a', 'b', 'c'])).toEqual([undefined, 'b', 'c']);
    await cache.close();
    await expect(cache.get('b')).rejects.toThrow(CacheUnavailable);
  });
});

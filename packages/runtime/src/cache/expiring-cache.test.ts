import { describe, expect, it } from 'vitest';
import { expiringCache, loadingCache } from './expiring-cache.ts';

const OPTIONS = { entriesMax: 100, ttlMs: 1000 };
const time = () => {
  const at = { ms: 0 };
  return { at, clock: { monotonicMs: () => at.ms } };
};

describe('a value that is kept for a while', () => {
  it('is there until it ends, and not at its end', () => {
    const { at, clock } = time();
    const cache = expiringCache<string, number>(clock, OPTIONS);
    cache.set('a', 1);
    cache.set('b', 2, 10);
    at.ms = 9;
    expect([cache.get('a'), cache.get('b')]).toEqual([1, 2]);
    at.ms = 10;
    expect([cache.get('a'), cache.get('b')]).toEqual([1, undefined]);
    at.ms = 1000;
    expect(cache.get('a')).toBeUndefined();
    expect([cache.wasSet('a'), cache.wasSet('c')]).toEqual([true, false]);
  });

  it('goes when it is told to, or when twice as many as allowed came after it', () => {
    const { clock } = time();
    const cache = expiringCache<string, number>(clock, OPTIONS);
    cache.set('a', 1);
    cache.delete('a');
    expect([cache.get('a'), cache.wasSet('a')]).toEqual([undefined, false]);
    cache.set('a', 1);
    for (let n = 0; n < 2 * OPTIONS.entriesMax; n += 1) cache.set(`more ${n}`, n);
    expect(cache.wasSet('a')).toBe(false);
  });

  it('stays while it is used, however many come after it', () => {
    const { clock } = time();
    const cache = expiringCache<string, number>(clock, OPTIONS);
    cache.set('a', 1);
    for (let n = 0; n < 10 * OPTIONS.entriesMax; n += 1) {
      cache.set(`more ${n}`, n);
      if (n % OPTIONS.entriesMax === 0) expect(cache.get('a')).toBe(1);
    }
  });

  it('takes no room for long after its end, unless it has to stay known', () => {
    const { at, clock } = time();
    const cache = expiringCache<string, number>(clock, OPTIONS);
    const knowing = expiringCache<string, number>(clock, { ...OPTIONS, knownMs: Infinity });
    for (const each of [cache, knowing]) each.set('a', 1);
    for (at.ms = 0; at.ms <= 2 * OPTIONS.ttlMs; at.ms += OPTIONS.ttlMs / 2) {
      for (const each of [cache, knowing]) each.set('b', at.ms);
    }
    expect([cache.wasSet('a'), knowing.wasSet('a')]).toEqual([false, true]);
    expect(knowing.get('a')).toBeUndefined();
  });

  it('of which one lives longer is never answered after its own end', () => {
    const { at, clock } = time();
    const cache = expiringCache<string, number>(clock, OPTIONS);
    cache.set('a', 1, 3 * OPTIONS.ttlMs);
    at.ms = 3 * OPTIONS.ttlMs - 1;
    expect(cache.get('a')).toBe(1);
    at.ms += 1;
    expect(cache.get('a')).toBeUndefined();
  });
});

describe('a value that is loaded', () => {
  it('is loaded once for all who ask while it is kept', async () => {
    const { at, clock } = time();
    const cache = loadingCache<string, number>(clock, OPTIONS);
    let loads = 0;
    const load = async () => {
      loads += 1;
      return loads;
    };
    expect(await Promise.all([cache.get('a', load), cache.get('a', load)])).toEqual([1, 1]);
    at.ms = 1000;
    expect(await cache.get('a', load)).toBe(2);
    cache.delete('a');
    expect(await cache.get('a', load)).toBe(3);
  });

  it('is not kept when the loading failed, or when it is one that is not to be kept', async () => {
    const { clock } = time();
    const cache = loadingCache<string, string>(clock, {
      ...OPTIONS,
      keeps: (value) => value !== 'absent',
    });
    await expect(cache.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await cache.get('a', async () => 'absent')).toBe('absent');
    expect(await cache.get('a', async () => 'there')).toBe('there');
    expect(await cache.get('a', async () => 'later')).toBe('there');
  });

  it('is not taken from who loaded it anew by an earlier failure', async () => {
    const { clock } = time();
    const cache = loadingCache<string, number>(clock, OPTIONS);
    let fail = (_error: Error): void => {};
    const early = cache.get('a', () => new Promise((_, reject) => (fail = reject)));
    cache.delete('a');
    await cache.get('a', async () => 2);
    fail(new Error('away'));
    await expect(early).rejects.toThrow('away');
    expect(await cache.get('a', async () => 3)).toBe(2);
  });
});

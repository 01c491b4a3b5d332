import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Cache, CacheUnavailable } from '../src/index.ts';

/** A separate cache that can be made to refuse writes, and how. */
export type RefusingFixture = {
  readonly open: () => Cache;
  /** Raises the alarm as any process may. */
  readonly raise: () => void;
  readonly ways: { readonly [name: string]: Refusal };
};
export type Refusal = { refuse(): Promise<void>; allow(): Promise<void> };

const WELL_AGAIN_MS = 60_000;

/** Every call that sends something to the cache. */
export const callsOf = (cache: Cache): readonly (() => Promise<unknown>)[] => [
  () => cache.get('a'),
  () => cache.getMany(['a', 'b']),
  () => cache.set('a', '1'),
  () => cache.setMany([{ key: 'a', value: '1', ttlMs: 1_000 }]),
  () => cache.setIfAbsent('a', '1'),
  () => cache.take('a'),
  () => cache.delete('a'),
  () => cache.increment('n', 1, 1_000),
  () => cache.takeToken('t', { capacity: 1, refillMs: 1_000 }),
  () => cache.raise('r', 1, 1_000),
  () => cache.publish('c', 'x'),
  () => cache.ping(),
];

/** `names` are the ways in which this cache refuses writes. */
export function describeRefusingWrites(
  adapter: string,
  names: readonly string[],
  fixture: () => Promise<RefusingFixture>,
): void {
  const heard = async (cache: Cache) => {
    const gaps: string[] = [];
    await cache.subscribe('news', () => {}, {
      lost: () => gaps.push('lost'),
      healed: () => gaps.push('healed'),
    });
    return gaps;
  };
  describe(`cache that refuses writes, ${adapter}`, () => {
    it.each(names)('H1 counts as away for reads and messages too, %s', async (name) => {
      const { open, ways } = await fixture();
      const way = ways[name];
      if (way === undefined) throw new Error('no such way');
      const [here, there] = [open(), open()];
      await here.set('a', '1');
      const gaps = [await heard(here), await heard(there)];
      await way.refuse();
      // The first write in this process detects the failure. The other process detects it although it writes nothing.
      await expect(here.set('b', '1', 60_000)).rejects.toThrow(CacheUnavailable);
      for (const call of callsOf(here)) await expect(call()).rejects.toThrow(CacheUnavailable);
      await untilTrue(() => gaps.every((each) => each.length > 0));
      await expect(there.get('a')).rejects.toThrow(CacheUnavailable);
      expect(gaps).toEqual([['lost'], ['lost']]);
      await way.allow();
      await untilTrue(() => gaps.every((each) => each.length === 2), {
        deadlineMs: WELL_AGAIN_MS,
        what: 'both are well again',
      });
      for (const cache of [here, there]) {
        await untilTrue(() =>
          cache.set('a', '2').then(
            () => true,
            () => false,
          ),
        );
        expect(await cache.get('a')).toBe('2');
      }
    });

    it('H1 an alarm makes all doubt what they have heard, and goes round the cache', async () => {
      const { open, raise } = await fixture();
      const [here, there] = [open(), open()];
      const gaps = [await heard(here), await heard(there)];
      await here.distrust();
      await untilTrue(() => gaps.every((each) => each.length === 2));
      raise();
      const twice = ['lost', 'healed', 'lost', 'healed'];
      await untilTrue(() => gaps.every((each) => each.length === twice.length));
      expect(gaps).toEqual([twice, twice]);
      await here.set('a', '1');
      expect(await there.get('a')).toBe('1');
    });
  });
}

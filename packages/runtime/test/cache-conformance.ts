import { untilTrue } from '@cardea/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Cache, CacheUnavailable } from '../src/index.ts';

/**
 * The functions that the suite needs from an adapter. Each adapter runs the same tests under the same names.
 */
export type CacheFixture = {
  /** Opens the cache as another process would. A cache inside one process returns itself. */
  open(): Cache;
};

const MANY = 2_500;
/** A short time. No assertion may require that something is done within it, because a busy machine takes longer. */
const SHORT_MS = 150;
/** A server has another clock, and counts whole milliseconds. */
const CLOCKS_APART_MS = 10;

/** `fixture` returns an empty cache before each test. */
export function describeCache(adapter: string, fixture: () => CacheFixture): void {
  describe(`cache, ${adapter}`, () => {
    let here: Cache;
    let there: Cache;
    beforeEach(() => {
      const { open } = fixture();
      here = open();
      there = open();
    });
    afterEach(async () => {
      await Promise.all([here.close(), there.close()]);
    });

    it('keeps what was written for all who ask, and the last write counts', async () => {
      await here.set('a', '1');
      await there.set('a', '2');
      await here.set('empty', '');
      expect(await here.get('a')).toBe('2');
      expect(await there.getMany(['a', 'nothing', 'empty', 'a'])).toEqual([
        '2',
        undefined,
        '',
        '2',
      ]);
      expect(await there.getMany([])).toEqual([]);
      await here.delete('a');
      await here.delete('a');
      expect(await there.get('a')).toBeUndefined();
    });

    it('keeps any text as it is', async () => {
      const texts = ['{"a":"ä€😀"}', ' spaces ', 'line\r\nline', 'x'.repeat(100_000), 'null'];
      for (const [number, text] of texts.entries()) await here.set(`text ${number} ü`, text);
      expect(await there.getMany(texts.map((_, number) => `text ${number} ü`))).toEqual(texts);
    });

    it('forgets an entry at its time, and not before', async () => {
      const setMs = performance.now();
      await here.setMany([
        { key: 'short', value: '1', ttlMs: SHORT_MS },
        { key: 'long', value: '2', ttlMs: 60_000 },
        { key: 'ever', value: '3' },
      ]);
      await here.set('fraction', '4', 0.4);
      await untilTrue(async () => (await there.get('short')) === undefined);
      expect(performance.now() - setMs).toBeGreaterThan(SHORT_MS - CLOCKS_APART_MS);
      expect(await there.getMany(['fraction', 'long', 'ever'])).toEqual([undefined, '2', '3']);
    });

    it('ends the old time of an entry that is written anew without one', async () => {
      await here.set('renewed', '1', 50);
      await here.set('renewed', '2');
      await here.set('witness', '1', 60);
      await untilTrue(async () => (await there.get('witness')) === undefined);
      expect(await there.get('renewed')).toBe('2');
    });

    it('writes many entries at once', async () => {
      const keys = Array.from({ length: MANY }, (_, number) => `many ${number}`);
      await here.setMany(keys.map((key) => ({ key, value: key, ttlMs: 60_000 })));
      expect(await there.getMany(keys)).toEqual(keys);
      await here.setMany([]);
    });

    it('lets one of many make an entry', async () => {
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, number) =>
          (number % 2 === 0 ? here : there).setIfAbsent('once', String(number), 60_000),
        ),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await here.get('once')).toBe(String(made.indexOf(true)));
      expect(await here.setIfAbsent('for a while', 'x', SHORT_MS)).toBe(true);
      await untilTrue(() => there.setIfAbsent('for a while', 'again', 60_000));
    });

    it('gives an entry that is taken to one taker', async () => {
      await here.set('code', 'x', 60_000);
      const taken = await Promise.all(
        Array.from({ length: 20 }, (_, number) => (number % 2 === 0 ? here : there).take('code')),
      );
      expect(taken.filter((each) => each === 'x')).toHaveLength(1);
      expect(taken.filter((each) => each === undefined)).toHaveLength(19);
    });

    it('keeps the highest number that it was raised to, whoever comes last', async () => {
      const [low, high] = [2n ** 53n + 1n, 2n ** 53n + 2n];
      await here.raise('at', 9n, 60_000);
      await there.raise('at', 10n, 60_000);
      await here.raise('at', 9n, 60_000);
      expect(await there.get('at')).toBe('10');
      await here.raise('at', high, 60_000);
      await there.raise('at', low, 60_000);
      expect(await here.get('at')).toBe(String(high));
      await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          (n % 2 === 0 ? here : there).raise('race', BigInt(n), 60_000),
        ),
      );
      expect(await here.get('race')).toBe('49');
      await here.raise('over soon too', 1n, SHORT_MS);
      await untilTrue(async () => (await here.get('over soon too')) === undefined);
    });

    it('counts every increment, within a window that starts with the first', async () => {
      const first = await here.increment('n', 2, 60_000);
      expect(first).toEqual({ count: 2, remainingMs: 60_000 });
      await Promise.all(
        Array.from({ length: 40 }, (_, number) =>
          (number % 2 === 0 ? here : there).increment('n', 1, 600_000),
        ),
      );
      const later = await there.increment('n', -1, 600_000);
      expect(later.count).toBe(41);
      expect(later.remainingMs).toBeGreaterThan(0);
      expect(later.remainingMs).toBeLessThanOrEqual(60_000);
      expect(await here.get('n')).toBe('41');
      await here.increment('over soon', 2, SHORT_MS);
      await untilTrue(async () => (await here.get('over soon')) === undefined);
      expect((await there.increment('over soon', 1, 60_000)).count).toBe(1);
    });

    it('takes nothing from a counter that is not there', async () => {
      expect(await here.increment('gone', -3, 60_000)).toEqual({ count: 0, remainingMs: 60_000 });
      expect(await there.get('gone')).toBeUndefined();
      expect((await there.increment('gone', 1, 60_000)).count).toBe(1);
      expect((await here.increment('gone', -2, 60_000)).count).toBe(-1);
    });

    it('gives as many tokens of a bucket as it holds to all who ask, and then one at a time', async () => {
      const bucket = { capacity: 12, refillMs: 400 };
      const startMs = performance.now();
      const taken = await Promise.all(
        Array.from({ length: 50 }, (_, number) =>
          (number % 2 === 0 ? here : there).takeToken('pace', bucket),
        ),
      );
      const givenBack = Math.floor((performance.now() - startMs) / bucket.refillMs);
      const given = taken.filter(Boolean).length;
      expect(given).toBeGreaterThanOrEqual(bucket.capacity);
      expect(given).toBeLessThanOrEqual(bucket.capacity + givenBack);
      let more = 0;
      const emptyMs = performance.now();
      while (more < 5) {
        if (await there.takeToken('pace', bucket)) more += 1;
      }
      const waitedMs = performance.now() - emptyMs;
      expect(waitedMs).toBeGreaterThan(4 * bucket.refillMs - CLOCKS_APART_MS);
      expect(await here.takeToken('of another', bucket)).toBe(true);
    });

    it('fills a bucket in its time, and never above its brim', async () => {
      const bucket = { capacity: 3, refillMs: 50 };
      const takeAll = async () => {
        const taken = await Promise.all([1, 2, 3, 4].map(() => here.takeToken('small', bucket)));
        return taken.filter(Boolean).length;
      };
      expect(await takeAll()).toBeGreaterThanOrEqual(3);
      await untilTrue(async () => (await there.get('small')) === undefined);
      expect(await takeAll()).toBeLessThanOrEqual(4);
    });

    it('tells all who listen to a channel, in the order of the words, until they leave', async () => {
      const heard: string[] = [];
      const elsewhere: string[] = [];
      const note = (message: string) => heard.push(`a${message}`);
      const leave = await here.subscribe('news', note);
      await there.subscribe('news', (message) => heard.push(`b${message}`));
      await there.subscribe('other', (message) => elsewhere.push(message));
      for (const word of ['1', '2', '3']) await here.publish('news', word);
      await untilTrue(() => heard.length === 6);
      expect(heard.filter((each) => each.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
      await leave();
      await leave();
      await there.publish('news', '4');
      await there.publish('other', 'x');
      await untilTrue(() => elsewhere.length === 1);
      await untilTrue(() => heard.includes('b4'));
      expect(heard).not.toContain('a4');
    });

    it('lets the same listener hear twice, each time until it leaves', async () => {
      const heard: string[] = [];
      const note = (message: string) => heard.push(message);
      const leave = await here.subscribe('twice', note);
      await here.subscribe('twice', note);
      await there.publish('twice', '1');
      await untilTrue(() => heard.length === 2);
      await leave();
      await there.publish('twice', '2');
      await untilTrue(() => heard.length === 3);
      expect(heard).toEqual(['1', '1', '2']);
    });

    it('hears a word that is published once the subscription is answered', async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        const heard: string[] = [];
        const leave = await here.subscribe(`at once ${turn}`, (message) => heard.push(message));
        await there.publish(`at once ${turn}`, 'word');
        await untilTrue(() => heard.length === 1);
        await leave();
      }
    });

    it('refuses every call once it is closed', async () => {
      await here.ping();
      await here.close();
      const calls: readonly (() => Promise<unknown>)[] = [
        () => here.get('a'),
        () => here.getMany(['a']),
        () => here.set('a', '1'),
        () => here.setMany([{ key: 'a', value: '1' }]),
        () => here.setIfAbsent('a', '1'),
        () => here.take('a'),
        () => here.delete('a'),
        () => here.increment('a', 1, 1),
        () => here.takeToken('a', { capacity: 1, refillMs: 1 }),
        () => here.publish('a', '1'),
        () => here.subscribe('a', () => {}),
        () => here.ping(),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow(CacheUnavailable);
    });
  });
}

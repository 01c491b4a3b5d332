import { expect, it } from 'vitest';
import { computedOnce } from './computed-once.ts';

it('computes a value once for each key, and drops all values before there are too many', () => {
  const computed: string[] = [];
  const once = computedOnce<string, boolean>(2);
  const ask = (key: string) =>
    once(key, () => {
      computed.push(key);
      return key === 'a';
    });
  expect(['a', 'b', 'a', 'b'].map(ask)).toEqual([true, false, true, false]);
  expect(computed).toEqual(['a', 'b']);
  expect(['c', 'c', 'a'].map(ask)).toEqual([false, false, true]);
  expect(computed).toEqual(['a', 'b', 'c', 'a']);
});

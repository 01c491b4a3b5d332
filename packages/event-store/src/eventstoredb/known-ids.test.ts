import { describe, expect, it } from 'vitest';
import { knownIds } from './known-ids.ts';

describe('the known event ids', () => {
  it('of a stream reach as far as was learned without a gap', () => {
    const ids = knownIds();
    ids.learn('a', 1, ['x', 'y']);
    ids.learn('a', 4, ['far']);
    expect(ids.of('a').through).toBe(2);
    ids.learn('a', 2, ['y', 'z']);
    expect([...ids.of('a').revisions]).toEqual([
      ['x', 1],
      ['y', 2],
      ['z', 3],
    ]);
  });

  it('tell an id that another stream has', () => {
    const ids = knownIds();
    ids.learn('a', 1, ['x']);
    expect(ids.elsewhere('b', ['w', 'x'])).toBe(true);
    expect(ids.elsewhere('a', ['x'])).toBe(false);
  });

  it('are forgotten a whole stream at a time, and whoever asked before keeps what it got', () => {
    const ids = knownIds(3);
    ids.learn('old', 1, ['x', 'y']);
    const asked = ids.of('old');
    ids.learn('new', 1, ['v', 'w']);
    expect(ids.of('old').through).toBe(0);
    expect(ids.elsewhere('new', ['x'])).toBe(false);
    expect(ids.of('new').through).toBe(2);
    expect(asked.revisions.get('y')).toBe(2);
  });
});

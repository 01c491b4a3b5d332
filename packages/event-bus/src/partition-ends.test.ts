import { describe, expect, it } from 'vitest';
import { hasPassed } from './partition-ends.ts';

const ends = (low: bigint, high: bigint) => [{ topic: 't', partition: 0, low, high }];
const applied = (offset: bigint) => new Map([['t/0', offset]]);

describe('a consumer has passed the ends of a partition', () => {
  it('when it applied the last record that lay there', () => {
    expect(hasPassed(ends(0n, 10n), applied(8n))).toBe(false);
    expect(hasPassed(ends(0n, 10n), applied(9n))).toBe(true);
    expect(hasPassed(ends(0n, 10n), applied(12n))).toBe(true);
  });

  it('when nothing lies there', () => {
    expect(hasPassed(ends(0n, 0n), new Map())).toBe(true);
    expect(hasPassed(ends(10n, 10n), applied(3n))).toBe(true);
    expect(hasPassed([], new Map())).toBe(true);
  });

  it('when it stands still there, but not while it has not begun', () => {
    expect(hasPassed(ends(6n, 10n), applied(3n))).toBe(true);
    expect(hasPassed(ends(4n, 10n), applied(3n))).toBe(false);
    expect(hasPassed(ends(6n, 10n), new Map())).toBe(false);
  });
});

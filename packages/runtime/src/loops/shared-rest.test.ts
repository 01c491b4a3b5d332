import { describe, expect, it } from 'vitest';
import { sharedRestMs } from './loops.ts';

const restAt = (nowMs: number): number => sharedRestMs({ monotonicMs: () => nowMs }, 10_000);

describe('a shared rest', () => {
  it('ends with others of the same length, however late each began', () => {
    for (const nowMs of [0, 3_000, 4_999]) expect(nowMs + restAt(nowMs)).toBe(10_000);
    for (const nowMs of [5_000, 9_000]) expect(nowMs + restAt(nowMs)).toBe(15_000);
  });

  it('is neither so short that a timer that ends early is followed by another at once, nor longer than asked', () => {
    for (const nowMs of [0, 1, 4_999.5, 5_000, 9_999.5]) {
      expect(restAt(nowMs)).toBeGreaterThan(5_000);
      expect(restAt(nowMs)).toBeLessThanOrEqual(10_000);
    }
  });
});

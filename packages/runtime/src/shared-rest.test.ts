import { describe, expect, it } from 'vitest';
import { sharedRestMs } from './shared-rest.ts';

const restAt = (nowMs: number): number => sharedRestMs({ monotonicMs: () => nowMs }, 10_000);

describe('a shared rest', () => {
  it('ends with all others of the same length, however late each began', () => {
    for (const nowMs of [0, 3_000, 9_000]) expect(nowMs + restAt(nowMs)).toBe(10_000);
  });

  it('is not so short that a timer that ends early is followed by another at once', () => {
    expect(9_999.5 + restAt(9_999.5)).toBe(20_000);
  });
});

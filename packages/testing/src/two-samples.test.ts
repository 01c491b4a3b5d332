import { describe, expect, it } from 'vitest';
import { mannWhitney, medianOf } from './two-samples.ts';

const numbers = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => from + at);

describe('two samples', () => {
  it('have their medians in the middle', () => {
    expect(medianOf([3, 1, 2])).toBe(2);
    expect(medianOf([4, 1, 3, 2])).toBe(2.5);
  });

  it('of one population are told apart by nobody', () => {
    expect(mannWhitney(numbers(0, 30), numbers(0, 30))).toBeCloseTo(1, 5);
    expect(mannWhitney([5, 5, 5], [5, 5, 5])).toBe(1);
  });

  it('that lie apart are told apart, the more the further', () => {
    const near = mannWhitney(numbers(0, 40), numbers(8, 40));
    const far = mannWhitney(numbers(0, 40), numbers(40, 40));
    expect(near).toBeLessThan(0.05);
    expect(far).toBeLessThan(1e-6);
    expect(near).toBeCloseTo(0.005658, 5);
  });
});

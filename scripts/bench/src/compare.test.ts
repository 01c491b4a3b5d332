import { describe, expect, it } from 'vitest';
import { judged, resultLine } from './compare.ts';

const measured = (per_second: number, errors = 0) => ({ per_second, p50_ms: 1, p99_ms: 1, errors });
const pair = {
  id: 'B0',
  subject: { name: 'subject' },
  floor: { name: 'floor' },
  goal: { at_least: 0.5 },
} as const;
const of = { loadBefore: 0, smoke: false };

describe('the row of a pair', () => {
  it('shows the ratio and its verdict', () => {
    const row = judged(pair, [{ subject: measured(60), floor: measured(100) }], of);
    expect(resultLine(row)).toBe('B0: 0.60 (>= 0.5) met');
  });

  it.each([
    ['subject', 3, 0],
    ['floor', 0, 3],
  ])('shows no figure after wrong answers of the %s', (_, wrong, wrongOfFloor) => {
    const right = { subject: measured(60), floor: measured(100) };
    const round = { subject: measured(900, wrong), floor: measured(100, wrongOfFloor) };
    const row = judged(pair, [right, round, right], of);
    expect(row.verdict).toBe('void');
    expect(resultLine(row)).toBe('B0: void, 3 answers were not the expected ones');
  });
});

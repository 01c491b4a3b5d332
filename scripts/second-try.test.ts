import { describe, expect, it } from 'vitest';
import { filesToTry, withSecondTry } from './test/second-try.ts';
import { NOTHING, type Step, sum, summary } from './test/tally.ts';

const step = (passed: number, ...tests: readonly string[]): Step => ({
  step: 'int',
  seconds: 1,
  tally: { ...NOTHING, passed, failed: tests.length, failures: tests.map((test) => ({ test })) },
});

describe('a second try', () => {
  it('is of few files that failed, and of nothing else', () => {
    expect(filesToTry([step(3)])).toBeUndefined();
    expect(filesToTry([step(1, 'a.test.ts > x', 'a.test.ts > y', 'b.test.ts')])).toEqual([
      'a.test.ts',
      'b.test.ts',
    ]);
    const four = ['a', 'b', 'c', 'd'].map((name) => `${name}.test.ts > x`);
    expect(filesToTry([step(1, ...four)])).toBeUndefined();
    expect(filesToTry([step(1, 'a.test.ts > x', 'an error that no test caught')])).toBeUndefined();
    expect(filesToTry([step(1, 'vitest')])).toBeUndefined();
  });

  it('names what passed then as a bug, and keeps what failed again', () => {
    const first = [step(5, 'a.test.ts > x', 'b.test.ts > y')];
    const total = sum(withSecondTry(first, [step(4, 'b.test.ts > y')]).map(({ tally }) => tally));
    expect(total).toMatchObject({ passed: 6, failed: 1 });
    expect(summary(total)).toContain('mend: a.test.ts > x passed at the second try');
    expect(summary(total)).toContain('failed: b.test.ts > y');
  });

  it('is told after all that was skipped, next to the counts', () => {
    const total = { ...sum([step(1, 'a.test.ts > x').tally]), skipped: [{ test: 'y', why: 'z' }] };
    expect(summary(total).split('\n')).toEqual([
      'skipped: y (z)',
      'failed: a.test.ts > x',
      '1 passed, 1 failed, 1 skipped',
    ]);
  });

  it('fails with what failed only then', () => {
    const after = withSecondTry([step(5, 'a.test.ts > x')], [step(1, 'a.test.ts > z')]);
    expect(sum(after.map(({ tally }) => tally))).toMatchObject({ failed: 1 });
  });

  it('changes nothing where nothing ran', () => {
    const first = [step(5, 'a.test.ts > x')];
    expect(withSecondTry(first, [step(0)])).toBe(first);
    expect(withSecondTry(first, [])).toBe(first);
  });
});

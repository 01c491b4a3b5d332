/**
 * Runs the failed files once more, by themselves. A whole run takes twenty minutes and runs everything at once, on a
 * machine that may be busy. A test that fails in it and passes alone is reported as a bug, and does not hide the other
 * results of the run.
 */
import { type Failure, NOTHING, type Step } from './tally.ts';

/** If more files failed, the cause is hardly the busy machine, and there is no second try. */
const FILES_MAX = 3;
const TEST_FILE = /^(\S+\.test\.ts)(?: > |$)/;

/**
 * Undefined if a second try would prove nothing: if nothing failed, if too many files did, or if something outside of
 * files did.
 */
export function filesToTry(steps: readonly Step[]): readonly string[] | undefined {
  const failures = steps.flatMap(({ tally }) => tally.failures);
  const files = failures.map(({ test }) => TEST_FILE.exec(test)?.[1]);
  const known = [...new Set(files.filter((file) => file !== undefined))];
  const isCertain = known.length > 0 && files.every((file) => file !== undefined);
  return isCertain && known.length <= FILES_MAX ? known : undefined;
}

/** The steps of the first run, with the results of the second one for their failures. */
export function withSecondTry(first: readonly Step[], second: readonly Step[]): readonly Step[] {
  const still = new Set(second.flatMap(({ tally }) => tally.failures.map(({ test }) => test)));
  const ran = second.reduce((sum, { tally }) => sum + tally.passed, 0);
  // Nothing ran, so there was no second try.
  if (ran === 0) return first;
  const fresh = second.flatMap(({ tally }) => tally.failures);
  const steps = first.map((step): Step => {
    const { tally } = step;
    const passed = tally.failures.filter(({ test }) => !still.has(test));
    const failures = tally.failures.filter(({ test }) => still.has(test));
    return {
      ...step,
      tally: {
        ...tally,
        passed: tally.passed + passed.length,
        failed: failures.length,
        failures,
        unsteady: passed,
      },
    };
  });
  const known = new Set(first.flatMap(({ tally }) => tally.failures.map(({ test }) => test)));
  const others: readonly Failure[] = fresh.filter(({ test }) => !known.has(test));
  if (others.length === 0) return steps;
  const tally = { ...NOTHING, failed: others.length, failures: others };
  return [...steps, { step: 'second try', seconds: 0, tally }];
}

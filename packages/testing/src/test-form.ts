/** Whether this run uses the short or the long form of its tests, for how long, and with which seed. */
export type TestForm = {
  readonly long: boolean;
  /** The time limit of a long test, if the run names one. */
  readonly minutes: number | undefined;
  /** Print it when a test fails. `--seed` repeats the same run. */
  readonly seed: number;
};

const SEEDS = 2 ** 31;
/** The short form is the same each time, so that a failed run means a change. The long form searches for more. */
const SEED_OF_SHORT_FORM = 1;
const long = process.env['TEST_LONG'] === 'yes';

export const testForm: TestForm = {
  long,
  minutes: numberOf(process.env['TEST_MINUTES']),
  seed:
    numberOf(process.env['TEST_SEED']) ??
    (long ? Math.floor(Math.random() * SEEDS) : SEED_OF_SHORT_FORM),
};

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Number(text);
}

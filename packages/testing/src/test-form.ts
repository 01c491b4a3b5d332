/** Whether this run plays the short or the long form of its tests, for how long, and from which seed. */
export type TestForm = {
  readonly long: boolean;
  /** Time box of a long test, where the run names one. */
  readonly minutes: number | undefined;
  /** Print it when a test fails: `--seed` plays the same again. */
  readonly seed: number;
};

const SEEDS = 2 ** 31;
/** The short form plays the same each time, so that a red run means a change; the long form looks for more. */
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

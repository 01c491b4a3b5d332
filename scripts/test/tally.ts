/** The result of one step of a run; the results of all steps are added up. */
export type Tally = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skipped[];
  readonly slowest: readonly { readonly test: string; readonly ms: number }[];
  readonly failures: readonly Failure[];
  /** Tests that failed in the whole run and passed alone. Each is a bug of the test or of the product. */
  readonly unsteady?: readonly Failure[];
};
/** A part of a run: a project's tests, or a check. Projects overlap, because workers continue with the next one. */
export type Step = { readonly step: string; readonly seconds: number; readonly tally: Tally };
/** `why` is a short form of its errors, if it has any. */
export type Failure = { readonly test: string; readonly why?: string };
export type Skipped = { readonly test: string; readonly why: string };

export const SLOWEST_SHOWN = 10;

export const NOTHING: Tally = { passed: 0, failed: 0, skipped: [], slowest: [], failures: [] };

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (all, each) => ({
      passed: all.passed + each.passed,
      failed: all.failed + each.failed,
      skipped: [...all.skipped, ...each.skipped],
      slowest: [...all.slowest, ...each.slowest]
        .toSorted((a, b) => b.ms - a.ms)
        .slice(0, SLOWEST_SHOWN),
      failures: [...all.failures, ...each.failures],
      unsteady: [...(all.unsteady ?? []), ...(each.unsteady ?? [])],
    }),
    NOTHING,
  );
}

/**
 * The last lines of a run. Failures are next to the counts, because a record may keep only the end. The very last line
 * is for programs.
 */
export function summary(total: Tally): string {
  return [
    ...(total.slowest.length > 0 ? ['slowest of all:'] : []),
    ...total.slowest.map(({ test, ms }) => `  ${String(ms).padStart(6)} ms  ${test}`),
    ...total.skipped.map(({ test, why }) => `skipped: ${test} (${why})`),
    ...total.failures.map(({ test, why }) => `failed: ${test}${why ? ` (${why})` : ''}`),
    ...(total.unsteady ?? []).map(
      ({ test, why }) => `mend: ${test} passed at the second try${why ? ` (${why})` : ''}`,
    ),
    `${total.passed} passed, ${total.failed} failed, ${total.skipped.length} skipped`,
  ].join('\n');
}

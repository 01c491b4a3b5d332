/** Writes the result of every test of a vitest run into the file that TALLY_FILE names. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { type Failure, SLOWEST_SHOWN, type Tally } from './tally.ts';

const WHY_CHARS_MAX = 300;
/** Tests that `-t` excludes count as skipped too, but need not be listed. */
const isFiltered = process.env['TALLY_FILTERED'] === 'yes';

export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const file = process.env['TALLY_FILE'];
    if (file === undefined) return;
    writeFileSync(file, JSON.stringify(tallyOf(modules, unhandled)));
  }
}

function tallyOf(modules: readonly TestModule[], unhandled: readonly unknown[]): Tally {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const named = (test: TestCase): string => `${test.module.relativeModuleId} > ${test.fullName}`;
  const failures: readonly Failure[] = [
    ...tests
      .filter((test) => test.result().state === 'failed')
      .map((test) => failed(named(test), test.result().errors?.[0])),
    ...modules.flatMap(brokenParts),
    ...unhandled.map((error) => failed('an error that no test caught', error)),
  ];
  return {
    passed: tests.filter((test) => test.result().state === 'passed').length,
    failed: failures.length,
    failures,
    skipped: tests.flatMap((test) => {
      const result = test.result();
      if (result.state !== 'skipped' || (result.note === undefined && isFiltered)) return [];
      return [{ test: named(test), why: result.note ?? 'marked as skipped' }];
    }),
    slowest: tests
      .filter((test) => test.result().state !== 'skipped')
      .map((test) => ({ test: named(test), ms: Math.round(test.diagnostic()?.duration ?? 0) }))
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, SLOWEST_SHOWN),
  };
}

/** Files and `describe` blocks that failed outside of their tests. */
function brokenParts(module: TestModule): Failure[] {
  const file = module.relativeModuleId;
  return [
    ...module.errors().map((error) => failed(file, error)),
    ...[...module.children.allSuites()].flatMap((suite) =>
      suite.errors().map((error) => failed(`${file} > ${suite.fullName}`, error)),
    ),
  ];
}

function failed(test: string, error: unknown): Failure {
  const message = (error as { readonly message?: unknown } | undefined)?.message;
  const [why = ''] = String(message ?? '').split('\n');
  return { test, why: why.slice(0, WHY_CHARS_MAX) };
}

/** Writes what became of every test of a vitest run into the file that TALLY_FILE names. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { Tally } from './tally.ts';

const SLOWEST_SHOWN = 10;
/** Tests that `-t` leaves out are skipped too, but nobody wants to read about those. */
const isFiltered = process.env['TALLY_FILTERED'] === 'yes';

export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const file = process.env['TALLY_FILE'];
    if (file === undefined) return;
    writeFileSync(file, JSON.stringify(tallyOf(modules, unhandled.length)));
  }
}

function tallyOf(modules: readonly TestModule[], unhandledErrors: number): Tally {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const named = (test: TestCase): string => `${test.module.relativeModuleId} > ${test.fullName}`;
  const failures = [
    ...tests.filter((test) => test.result().state === 'failed').map(named),
    ...modules.flatMap(brokenParts),
    ...Array.from({ length: unhandledErrors }, () => 'an error that no test caught'),
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

/** A file or a `describe` that broke outside of its tests. */
function brokenParts(module: TestModule): string[] {
  const suites = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
  return [
    ...module.errors().map(() => module.relativeModuleId),
    ...suites.map((suite) => `${module.relativeModuleId} > ${suite.fullName}`),
  ];
}

/** Writes the results of a vitest run, by project, into the file that TALLY_FILE names. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { type Failure, NOTHING, SLOWEST_SHOWN, type Step, type Tally } from './tally.ts';

const WHY_CHARS_MAX = 300;
/** Tests that `-t` excludes count as skipped too, but need not be listed. */
const isFiltered = process.env['TALLY_FILTERED'] === 'yes';

export default class TallyReporter implements Reporter {
  /** When the first file of a project began and the last one ended. */
  readonly #times = new Map<string, { fromMs: number; toMs: number }>();

  onTestModuleQueued({ project }: TestModule): void {
    const nowMs = performance.now();
    if (!this.#times.has(project.name)) {
      this.#times.set(project.name, { fromMs: nowMs, toMs: nowMs });
    }
  }

  onTestModuleEnd({ project }: TestModule): void {
    const times = this.#times.get(project.name);
    if (times !== undefined) times.toMs = performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const file = process.env['TALLY_FILE'];
    if (file === undefined) return;
    const steps: Step[] = [...this.#times].map(([step, { fromMs, toMs }]) => ({
      step,
      seconds: (toMs - fromMs) / 1000,
      tally: tallyOf(modules.filter(({ project }) => project.name === step)),
    }));
    if (unhandled.length > 0) steps.push(uncaught(unhandled));
    writeFileSync(file, JSON.stringify(steps));
  }
}

function uncaught(errors: readonly unknown[]): Step {
  const failures = errors.map((error) => failed('an error that no test caught', error));
  return {
    step: 'errors beside tests',
    seconds: 0,
    tally: { ...NOTHING, failed: failures.length, failures },
  };
}

function tallyOf(modules: readonly TestModule[]): Tally {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const named = (test: TestCase): string => `${test.module.relativeModuleId} > ${test.fullName}`;
  const failures: readonly Failure[] = [
    ...tests
      .filter((test) => test.result().state === 'failed')
      .map((test) => failed(named(test), test.result().errors?.[0])),
    ...modules.flatMap(brokenParts),
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

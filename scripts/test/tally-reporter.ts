/** Writes the results of a vitest run, by project, into the file that TALLY_FILE names. */
import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { type Failure, NOTHING, SLOWEST_SHOWN, type Step, type Tally } from './tally.ts';

const WHY_CHARS_MAX = 1000;
/** The maximum number of lines that show the difference between the expected and the actual value. */
const DIFF_LINES_MAX = 12;
/** Tests that `-t` excludes count as skipped too, but need not be listed. */
const isFiltered = process.env['TALLY_FILTERED'] === 'yes';

export default class TallyReporter implements Reporter {
  /** The times at which the first file of a project began and the last one ended. */
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
      .map((test) => failed(named(test), ...(test.result().errors ?? []))),
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

/** For each error: the first line of its message and of its causes' messages, and what differs. */
function failed(test: string, ...errors: readonly unknown[]): Failure {
  const why = errors.flatMap((error) => [...messagesOf(error), ...differencesOf(error)]);
  return { test, why: why.join('; ') };
}

type Told = { readonly message?: unknown; readonly cause?: unknown; readonly diff?: unknown };

function messagesOf(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { message, cause } = error as Told;
  const [first = ''] = String(message ?? '').split('\n');
  return [first.slice(0, WHY_CHARS_MAX), ...messagesOf(cause)];
}

function differencesOf(error: unknown): readonly string[] {
  const { diff } = (error ?? {}) as Told;
  if (typeof diff !== 'string') return [];
  return stripVTControlCharacters(diff)
    .split('\n')
    .filter((line) => /^[-+] /.test(line))
    .slice(0, DIFF_LINES_MAX)
    .map((line) => line.replace(/\s+/g, ' ').slice(0, WHY_CHARS_MAX));
}

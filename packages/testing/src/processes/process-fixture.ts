/**
 * Starts, awaits and kills real processes for fault tests. Processes that are still alive at the end of the
 * file are killed, and the output of a failed test's processes stays in `.cache/failures/`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { type FixtureProcess, type ProcessToStart, startProcess } from './child-process.ts';

export type ProcessFixture = {
  start(what: ProcessToStart): Promise<FixtureProcess>;
  /** Called after all tests of the file, when none of its processes runs any more. */
  onEnd(work: () => void): void;
};

const FAILURES = '.cache/failures';

/** Call it once at the top of a file. */
export function processFixture(): ProcessFixture {
  const started: FixtureProcess[] = [];
  const atEnd: (() => void)[] = [];
  const killAll = (): void => {
    for (const each of started) each.signal('SIGKILL');
  };
  process.once('exit', killAll);
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') keepLogs(task.name, started);
  });
  afterAll(async () => {
    killAll();
    await Promise.all(started.map((each) => each.ended));
    process.off('exit', killAll);
    for (const work of atEnd) work();
  });
  return {
    start: (what) => startProcess(what, (running) => started.push(running)),
    onEnd: (work) => atEnd.push(work),
  };
}

function keepLogs(test: string, processes: readonly FixtureProcess[]): void {
  const folder = join(FAILURES, test.replaceAll(/[^\w]+/g, '-').slice(0, 80));
  mkdirSync(folder, { recursive: true });
  for (const [index, each] of processes.entries()) {
    writeFileSync(join(folder, `${index}-${each.name}.log`), each.output());
  }
}

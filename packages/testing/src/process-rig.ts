/**
 * Real processes for fault tests: started, waited for, killed. Whatever is still alive when the file
 * is done goes with it, and what the processes of a failed test printed stays in `.cache/failures/`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { type ProcessToStart, type RigProcess, startProcess } from './child-process.ts';

export type ProcessRig = { start(what: ProcessToStart): Promise<RigProcess> };

const FAILURES = '.cache/failures';

/** Call it once at the top of a file. */
export function processRig(): ProcessRig {
  const started: RigProcess[] = [];
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
  });
  return { start: (what) => startProcess(what, (running) => started.push(running)) };
}

function keepLogs(test: string, processes: readonly RigProcess[]): void {
  const folder = join(FAILURES, test.replaceAll(/[^\w]+/g, '-').slice(0, 80));
  mkdirSync(folder, { recursive: true });
  for (const [index, each] of processes.entries()) {
    writeFileSync(join(folder, `${index}-${each.name}.log`), each.output());
  }
}

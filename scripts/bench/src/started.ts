/** Starts the servers to measure, each in a separate process that ends with the benchmark. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programOf } from '@cardea/testing';
import type { BenchContext } from './harness.ts';

const EXPRESS_NOOP = new URL('./workers/express-noop.worker.ts', import.meta.url);

/** The pairs of a bench to measure. A smoke run measures only the first, because each pair costs two processes. */
export const pairsOf = <T>({ smoke }: BenchContext, all: readonly T[]): readonly T[] =>
  smoke ? all.slice(0, 1) : all;

/** Starts an Express server that reads JSON and gives this answer, as a floor for endpoints. Returns its origin. */
export async function expressNoop(context: BenchContext, answer: string): Promise<string> {
  return (await started<{ origin: string }>(context, EXPRESS_NOOP, answer)).origin;
}

/** Starts a server in a separate process. Returns the message that it sends when it is ready. */
export async function started<Said>(
  context: BenchContext,
  script: URL,
  ...args: readonly string[]
): Promise<Said> {
  // The server is killed, so its temporary files have to be removed here.
  const folder = mkdtempSync(join(tmpdir(), 'cardea-bench-'));
  const env = { ...process.env, TMPDIR: folder };
  const child = fork(programOf(script), [...args], { env, stdio: ['ignore', 2, 2, 'ipc'] });
  context.onEnd(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  const stop = new AbortController();
  const exited = once(child, 'exit', { signal: stop.signal }).then(([code]) => {
    throw new Error(`a server ended with ${code}`);
  });
  exited.catch(() => {}); // The abort below ends the process.
  const ready = once(child, 'message', { signal: stop.signal }).then(([message]) => message);
  try {
    return (await Promise.race([ready, exited])) as Said;
  } finally {
    stop.abort();
    await Promise.allSettled([ready, exited]);
  }
}

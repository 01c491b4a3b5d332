/** A side that serves HTTP, called by a load generator in another process over keep-alive connections. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchContext, type Side, workerSide } from './harness.ts';

export type LoadRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  /** Any other status is an error. */
  readonly status: number;
  /** Expected in the body; checked in one of a hundred responses. */
  readonly contains?: string;
};

export type Load = {
  readonly origin: string;
  /** The number of requests that are pending at any time. */
  readonly connections: number;
  /** The requests are sent one after another, repeatedly. */
  readonly requests: readonly LoadRequest[];
  /**
   * The rate of requests per second, independent of the responses. If undefined, each request follows the previous
   * response.
   */
  readonly perSecond?: number;
};

const WORKER = new URL('./workers/http.worker.ts', import.meta.url);

export async function httpSide(
  context: BenchContext,
  name: string,
  load: Load,
): Promise<Side & { readonly pid: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-load-'));
  context.onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'load.json'); // Passed in a file, because it may contain keys and be long.
  writeFileSync(path, JSON.stringify(load), { mode: 0o600 });
  return workerSide(context, name, WORKER, [path]);
}

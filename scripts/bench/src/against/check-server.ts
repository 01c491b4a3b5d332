/** A server that answers checks, ours or another product's, with the same tuples. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ReferenceTuple } from '@cardea/testing';
import { Client } from 'pg';
import type { BenchContext } from '../harness.ts';
import type { LoadRequest } from '../http.ts';

/** A check or, without its object's id, a list of objects. */
export type Question = ReferenceTuple;

export type CheckServer = {
  readonly name: string;
  readonly origin: string;
  readonly pid: number;
  check(question: Question): LoadRequest;
  allowed(answer: string): boolean;
  list(question: Question): LoadRequest;
  /** Returns the ids in any order. */
  listed(answer: string): readonly string[];
  write(tuple: ReferenceTuple): LoadRequest;
  delete(tuple: ReferenceTuple): LoadRequest;
};

/** Servers run on the first core, load generators on the second. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

/** Pins all threads of a process to a core. Without `taskset`, the kernel places them. */
export function pin(pid: number, core: number): void {
  try {
    execFileSync('taskset', ['-apc', String(core), String(pid)], { stdio: 'ignore' });
  } catch {
    console.log('  not pinned to a core: there is no taskset');
  }
}

const START_MS = 60_000;
const LOOK_EVERY_MS = 100;
const REPEATS_MAX = 5;
const STOP_MS = 5_000;

/** Starts a server on the first core and returns its pid once it answers. The server ends with the benchmark. */
export async function startServer(
  context: BenchContext,
  of: {
    readonly program: string;
    readonly args: readonly string[];
    readonly env: { readonly [name: string]: string };
    /** The URL that shows that the server is up. Any status below 500 suffices. */
    readonly health: string;
  },
): Promise<number> {
  const child = spawn('taskset', ['-c', String(SERVER_CORE), of.program, ...of.args], {
    env: { ...process.env, ...of.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const kill = () => child.kill('SIGKILL');
  // The server is killed even if the benchmark is interrupted.
  process.once('exit', kill);
  context.onEnd(async () => {
    process.off('exit', kill);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const cut = setTimeout(kill, STOP_MS);
    await gone;
    clearTimeout(cut);
  });
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) break;
    const status = await fetch(of.health).then(
      ({ status }) => status,
      () => 500,
    );
    // `taskset` becomes the program, so the pid is the server's.
    if (status < 500 && child.pid !== undefined) return child.pid;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  throw new Error(`${of.program} did not start`);
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/**
 * Sends one request, and repeats it when a busy server says so. Returns the body, or throws for an unexpected status.
 * It is not used to measure rates.
 */
export async function sent(
  origin: string,
  request: LoadRequest,
  repeatsLeft = REPEATS_MAX,
): Promise<string> {
  const response = await fetch(`${origin}${request.path}`, {
    method: request.method,
    headers: { 'content-type': 'application/json', ...request.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
  });
  const text = await response.text();
  if (response.status === request.status) return text;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (response.status === 503 && seconds >= 0 && repeatsLeft > 0) {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    return await sent(origin, request, repeatsLeft - 1);
  }
  throw new Error(`${request.path}: status ${response.status}, ${text.slice(0, 300)}`);
}

/** Runs the calls with this concurrency, started in order, and returns their results in order. */
export async function pooled<In, Out>(
  all: readonly In[],
  atOnce: number,
  each: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const loop = async () => {
    while (next < all.length) {
      const at = next++;
      results[at] = await each(all[at] as In);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  return results;
}

export function chunksOf<T>(all: Iterable<T>, size: number): T[][] {
  const chunks: T[][] = [];
  let chunk: T[] = [];
  for (const item of all) {
    chunk.push(item);
    if (chunk.length < size) continue;
    chunks.push(chunk);
    chunk = [];
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** Collects statistics, because PostgreSQL has none for a table that was just filled. */
export async function analyze(connectionString: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  await client.query('VACUUM ANALYZE').finally(() => client.end());
}

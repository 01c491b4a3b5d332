/** Types and functions that all benchmarks share: their context, their figures, and the processes that measure. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { ServiceName } from '@cardea/contracts';
import { programOf } from '@cardea/testing';

/** The result of one measurement of one side. */
export type Measured = {
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** CPU time per operation of the processes that did the work, in milliseconds. */
  readonly cpu_ms?: number;
  readonly rss_mb?: number;
  /** Wrong responses and failures; a single one makes the row void. */
  readonly errors: number;
  /** The number of measured operations. */
  readonly count?: number;
  /** Operations per second of the CPU time of a server and its database, and of the server's alone. */
  readonly per_cpu_second?: number;
  readonly per_own_cpu_second?: number;
};

/** One half of a pair. It is warm from its second measurement on. */
export type Side = {
  readonly name: string;
  readonly measure: (seconds: number) => Promise<Measured>;
};

export type Goal = { readonly at_least: number } | { readonly at_most: number };

export type Pair = {
  /** The row of `docs/design/quality.md`, with a suffix that distinguishes its pairs: `B1 64 callers`. */
  readonly id: string;
  readonly subject: Side;
  readonly floor: Side;
  /** If undefined, the row is printed for information only. */
  readonly goal?: Goal;
  /** The figure that is compared; throughput by default. */
  readonly figure?:
    | 'per_second'
    | 'p50_ms'
    | 'p99_ms'
    | 'cpu_ms'
    | 'per_cpu_second'
    | 'per_own_cpu_second';
  /** The maximum of the load generator; a subject above 80 % of it says little. */
  readonly ceiling_per_second?: number;
};

export type Verdict = 'met' | 'missed' | 'noisy' | 'void' | 'info';

export type Row = {
  readonly id: string;
  readonly subject: string;
  readonly floor: string;
  readonly figure: string;
  readonly ratio: number;
  readonly min: number;
  readonly max: number;
  readonly goal: string;
  readonly verdict: Verdict;
  readonly marks: readonly string[];
  readonly subject_measured: Measured;
  readonly floor_measured: Measured;
};

/** Starts nginx with one worker and these addresses of each service. Undefined if nginx is not installed. */
export type StartGateway = (
  upstreams: {
    readonly [name in ServiceName]: readonly string[];
  },
  /** The port; a free one by default. */
  port?: number,
) => Promise<{ readonly url: string; readonly pid: number; stop(): Promise<void> } | undefined>;

export type BenchContext = {
  readonly smoke: boolean;
  /** Whether the product is measured as six processes instead of one. */
  readonly cluster: boolean;
  /** The names of other products' servers to compare with. */
  readonly against: readonly string[];
  /** The duration of each measurement in seconds. The warm-up may take longer. */
  readonly seconds: number;
  /** The machine's load before the run began. */
  readonly loadBefore: number;
  /** Creates a migrated database on the run's server. Returns the owner's URL. */
  readonly database: () => Promise<string>;
  /** The id of that server's first process. */
  readonly postgresPid: number;
  /** Measures the two alternately, five rounds after a warm-up. */
  readonly compare: (pair: Pair) => Promise<Row>;
  readonly startGateway: StartGateway;
  /** Called at the end of the bench, also after a failure. */
  readonly onEnd: (close: () => Promise<void> | void) => void;
  /** Starts a subject for this bench only. A smoke run starts it once for all benches that use the same name. */
  readonly shared: <T>(name: string, start: (context: BenchContext) => Promise<T>) => Promise<T>;
};

export type Bench = {
  readonly id: string;
  readonly title: string;
  /**
   * If true, `npm test` only loads the bench, and `npm run test:long` runs it. The other benches cover each kind of
   * subject: a worker, a service in its own process, the whole product, the gateway.
   */
  readonly isLong?: boolean;
  readonly run: (context: BenchContext) => Promise<readonly Row[]>;
};

/** Runs `operation` in one loop per caller and times each call. The operation throws when its result is wrong. */
export async function measureCalls(
  callers: number,
  seconds: number,
  operation: (caller: number) => Promise<unknown>,
  /** Returns true to end the measurement early. */
  isExhausted: () => boolean = () => false,
): Promise<Measured> {
  const times: number[] = [];
  let errors = 0;
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const end = start + seconds * 1000;
  const loop = async (caller: number) => {
    while (performance.now() < end && !isExhausted()) {
      const began = performance.now();
      await operation(caller).catch((error) => {
        if (errors++ === 0) console.error('  first error of a side:', error);
      });
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
  const elapsed = (performance.now() - start) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return {
    per_second: times.length / elapsed,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    cpu_ms: (cpu.user + cpu.system) / 1000 / times.length,
    rss_mb: process.memoryUsage.rss() / 2 ** 20,
    errors,
    count: times.length,
  };
}

/** For a worker's file: answers each `measure(seconds)` of the parent process, and ends with that process. */
export function serveMeasurements(measure: (seconds: number) => Promise<Measured>): void {
  process.on('message', async (seconds: number) => {
    process.send?.(await measure(seconds));
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.('ready');
}

/** A pass is timed in batches of this many events. */
const PASS_BATCH = 500;

/**
 * Runs whole passes over the same number of `events` until the time is over; `before` is not timed. A pass
 * returns how many events it processed.
 */
export async function measurePasses(
  seconds: number,
  events: number,
  pass: () => Promise<number>,
  before: () => Promise<unknown> = async () => {},
): Promise<Measured> {
  let [done, busyMs, errors] = [0, 0, 0];
  const cpuBefore = process.cpuUsage();
  do {
    await before();
    const start = performance.now();
    const passed = await pass();
    busyMs += performance.now() - start;
    done += passed;
    if (passed !== events) errors += 1;
  } while (busyMs < seconds * 1000);
  const cpu = process.cpuUsage(cpuBefore);
  const msPerBatch = (busyMs / done) * PASS_BATCH;
  return {
    per_second: done / (busyMs / 1000),
    p50_ms: msPerBatch,
    p99_ms: msPerBatch,
    cpu_ms: (cpu.user + cpu.system) / 1000 / done,
    rss_mb: process.memoryUsage.rss() / 2 ** 20,
    errors,
  };
}

/** A side that runs in a separate process, started from `script` with `args`. */
export async function workerSide(
  context: BenchContext,
  name: string,
  script: URL,
  args: readonly string[],
): Promise<Side & { readonly pid: number }> {
  const child = fork(programOf(script), [...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  context.onEnd(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await gone;
  });
  await answerOf(child);
  return {
    name,
    pid: child.pid as number,
    measure: async (seconds) => {
      child.send(seconds);
      return (await answerOf(child)) as Measured;
    },
  };
}

/** The next message of a worker. */
export async function answerOf(child: ChildProcess): Promise<unknown> {
  const stop = new AbortController();
  const exited = once(child, 'exit', { signal: stop.signal }).then(([code]) => {
    throw new Error(`a benchmark's process ended with ${code}`);
  });
  const answered = once(child, 'message', { signal: stop.signal }).then(([message]) => message);
  try {
    return await Promise.race([answered, exited]);
  } finally {
    stop.abort();
    await Promise.allSettled([answered, exited]);
  }
}

/**
 * Calls at a fixed rate, even if earlier calls have not ended. So the times are those of a server at that load, and
 * include the time that a call waited for others.
 */
export async function measureArrivals(
  perSecond: number,
  seconds: number,
  operation: () => Promise<void>,
): Promise<Measured> {
  const times: number[] = [];
  const pending = new Set<Promise<void>>();
  let errors = 0;
  const start = performance.now();
  const total = Math.ceil(perSecond * seconds);
  for (let sent = 0; sent < total; sent++) {
    const early = start + (sent / perSecond) * 1000 - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const began = performance.now();
    const call: Promise<void> = operation()
      .catch((error) => {
        if (errors++ === 0) console.error('  first error of a side:', error);
      })
      .finally(() => {
        times.push(performance.now() - began);
        pending.delete(call);
      });
    pending.add(call);
  }
  await Promise.all(pending);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return {
    per_second: total / ((performance.now() - start) / 1000),
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    errors,
    count: total,
  };
}

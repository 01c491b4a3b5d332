/** Runs every file of `benches` against one PostgreSQL and writes a table of ratios to `.cache/bench`. */
import { readdir } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { compare, resultLine } from './compare.ts';
import type { Bench, BenchContext, Row, StartGateway } from './harness.ts';
import { describeMachine, writeReport } from './report.ts';
import { type BenchServer, benchServer } from './server.ts';

export type BenchRun = {
  /** Ids of the benches to run; all by default. */
  readonly only?: readonly string[] | undefined;
  /** The duration of each measurement; above 0. */
  readonly seconds: number;
  /** Runs one round of each pair, to check that it works. */
  readonly smoke: boolean;
  /** Runs long benches in a smoke run, too. */
  readonly long: boolean;
  /** Starts six processes instead of standalone, for benches that measure the product as a whole. */
  readonly cluster: boolean;
  /** The names of other products' servers, for benches that compare with them. */
  readonly against: readonly string[];
  readonly startGateway: StartGateway;
};

/** None of the requested benches exists. */
export class UnknownBench extends Error {
  override readonly name = 'UnknownBench';
}

/** Returns whether all benches completed and each answer was the expected one. Throws {@link UnknownBench}. */
export async function runBenches(run: BenchRun): Promise<boolean> {
  const { benches: all, broken } = await allBenches();
  const isNamed = (id: string) =>
    run.only?.some((name) => id === name || id.startsWith(`${name} `)) ?? true;
  const isSkipped = ({ isLong = false }: Bench) =>
    isLong && run.smoke && !run.long && run.only === undefined;
  const benches = all.filter((bench) => isNamed(bench.id) && !isSkipped(bench));
  if (benches.length === 0) throw new UnknownBench(`there is no bench called ${run.only}`);
  const loadBefore = loadavg()[0] ?? 0;
  const server = await benchServer();
  const rows: Row[] = [];
  const forAll: Shared = { started: new Map(), closers: [] };
  let failed = broken;
  try {
    const box = await describeMachine(server, loadBefore);
    for (const bench of benches) {
      console.log(`${bench.id}: ${bench.title}`);
      try {
        const measured = await runOne(bench, run, { server, forAll, loadBefore });
        const valid = measured.filter(({ verdict }) => verdict !== 'void');
        rows.push(...valid);
        failed ||= valid.length < measured.length;
      } catch (error) {
        failed = true;
        console.error(`${bench.id} broke:`, error);
      }
    }
    await writeReport(box, rows);
  } finally {
    for (const close of forAll.closers.toReversed()) await close();
    await server.stop();
  }
  return !failed;
}

type Closers = (() => Promise<void> | void)[];
/** The subjects that the benches of a smoke run share. */
type Shared = { readonly started: Map<string, Promise<unknown>>; readonly closers: Closers };

async function runOne(
  bench: Bench,
  run: BenchRun,
  within: { readonly server: BenchServer; readonly forAll: Shared; readonly loadBefore: number },
): Promise<readonly Row[]> {
  const { smoke, cluster, seconds, against, startGateway } = run;
  const { server, forAll, loadBefore } = within;
  const closers: Closers = [];
  const context: BenchContext = {
    smoke,
    cluster,
    against,
    seconds,
    loadBefore,
    database: () => server.database(),
    postgresPid: server.pid,
    compare: async (pair) => {
      const row = await compare(pair, { seconds, smoke, loadBefore });
      console.log(`  ${resultLine(row)}`);
      return row;
    },
    startGateway,
    onEnd: (close) => closers.push(close),
    shared: <T>(name: string, start: (within: BenchContext) => Promise<T>) => {
      if (!smoke) return start(context);
      const onEnd: BenchContext['onEnd'] = (close) => forAll.closers.push(close);
      const running = forAll.started.get(name) ?? start({ ...context, onEnd });
      forAll.started.set(name, running);
      return running as Promise<T>;
    },
  };
  try {
    return await bench.run(context);
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

const BENCHES = new URL('./benches/', import.meta.url);

/** A file that cannot be loaded fails the run, but the other files still run. */
async function allBenches(): Promise<{ benches: readonly Bench[]; broken: boolean }> {
  const files = (await readdir(BENCHES)).filter((file) => file.endsWith('.bench.ts'));
  const found = await Promise.all(files.map(benchesOf));
  const benches = found
    .flatMap((each) => each ?? [])
    .toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  return { benches, broken: found.includes(undefined) };
}

async function benchesOf(file: string): Promise<readonly Bench[] | undefined> {
  try {
    const { benches } = await import(new URL(file, BENCHES).href);
    return benches;
  } catch (error) {
    console.error(`${file} cannot be loaded:`, error);
    return undefined;
  }
}

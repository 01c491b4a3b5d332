/**
 * `npm run bench [-- --only B3,start] [--seconds N] [--smoke]`: runs every `*.bench.ts` beside this
 * file against one PostgreSQL and leaves a table of ratios in `.cache/bench`.
 */
import { readdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Bench, type BenchContext, compare, type Row } from './harness.ts';
import { describeBox, writeReport } from './report.ts';
import { benchServer } from './server.ts';

const SECONDS = 5;
const SMOKE_SECONDS = 0.5;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
  },
});
const seconds = Number(options.seconds ?? (options.smoke ? SMOKE_SECONDS : SECONDS));
if (!(seconds > 0)) {
  console.error('--seconds is a number above 0');
  process.exit(2);
}

const benches = (await allBenches()).filter(
  ({ id }) => options.only === undefined || options.only.split(',').includes(id),
);
if (benches.length === 0) {
  console.error(`there is no bench called ${options.only}`);
  process.exit(2);
}

const server = await benchServer();
const rows: Row[] = [];
let failed = false;
try {
  const box = await describeBox(server);
  for (const bench of benches) {
    console.log(`${bench.id}: ${bench.title}`);
    try {
      rows.push(...(await runOne(bench)));
    } catch (error) {
      failed = true;
      console.error(`${bench.id} broke:`, error);
    }
  }
  await writeReport(box, rows);
} finally {
  await server.stop();
}
if (failed) process.exitCode = 1;

async function runOne(bench: Bench): Promise<readonly Row[]> {
  const closers: (() => Promise<void> | void)[] = [];
  const context: BenchContext = {
    smoke: options.smoke,
    database: () => server.database(),
    compare: async (pair) => {
      const row = await compare(pair, { seconds, smoke: options.smoke });
      console.log(`  ${row.id}: ${row.ratio.toFixed(2)} (${row.goal || 'no goal'}) ${row.verdict}`);
      return row;
    },
    onEnd: (close) => closers.push(close),
  };
  try {
    return await bench.run(context);
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function allBenches(): Promise<readonly Bench[]> {
  const files = (await readdir(new URL('.', import.meta.url))).filter((file) =>
    file.endsWith('.bench.ts'),
  );
  const found = await Promise.all(files.map(benchesOf));
  return found.flat().toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
}

/** A file that cannot be loaded fails the run, and hinders no other. */
async function benchesOf(file: string): Promise<readonly Bench[]> {
  try {
    const { benches: found } = await import(new URL(file, import.meta.url).href);
    return found;
  } catch (error) {
    console.error(`${file} cannot be loaded:`, error);
    process.exitCode = 1;
    return [];
  }
}

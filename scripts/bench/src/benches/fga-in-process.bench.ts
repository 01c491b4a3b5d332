/** fga-in-process: memory, loading and answers of the index of relationship tuples, without HTTP. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Client } from 'pg';
import { goalText } from '../compare.ts';
import {
  answerOf,
  type Bench,
  type BenchContext,
  type Goal,
  type Measured,
  type Row,
  type Side,
} from '../harness.ts';
import { familyMs } from '../processor-time.ts';

const WORKER = new URL('../../../../services/authz/test/in-process.worker.ts', import.meta.url);
/** A smoke run has 10,000 tuples instead of a million. */
const SMALLER_SMOKE = '100';
const WITHOUT_REASON = 'check without its reason';

export const benches: readonly Bench[] = [
  {
    id: 'fga-in-process',
    title: 'the index of relationship tuples, in process',
    isLong: true,
    run: inProcess,
  },
];

type Ready = {
  readonly tuples: number;
  readonly bytesPerTuple: number;
  readonly fromTable: number;
  readonly toFile: number;
  readonly fromFile: number;
};

async function inProcess(context: BenchContext): Promise<readonly Row[]> {
  const database = await context.database();
  const worker = fork(WORKER, [database, context.smoke ? SMALLER_SMOKE : '1'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  context.onEnd(async () => {
    const gone = once(worker, 'exit');
    worker.kill('SIGKILL');
    if (worker.exitCode === null && worker.signalCode === null) await gone;
  });
  const ready = (await answerOf(worker)) as Ready;
  await analyze(database);
  const side = sidesOf(worker, context.postgresPid);
  const pairs = [
    {
      id: 'check / from the table',
      subject: side('check', 'check with its reason'),
      floor: side('table_check', 'from the table'),
      figure: 'cpu_ms',
      goal: { at_most: 1 / 40 },
    },
    {
      id: 'with its reason / without',
      subject: side('check', 'check with its reason'),
      floor: side('allows', WITHOUT_REASON),
      figure: 'cpu_ms',
      goal: { at_most: 3 },
    },
    { id: 'id of a filter / check', subject: side('filter', 'id of 1,000'), floor: side('allows') },
    { id: 'listed object / check', subject: side('list', 'listed object'), floor: side('allows') },
    { id: 'change / check', subject: side('delete_and_write', 'change'), floor: side('allows') },
  ] as const;
  const rows: Row[] = [];
  const add = (id: string, figure: string, value: number, goal?: Goal) => {
    // Figures of a hundredth of the tuples say nothing about the goals.
    rows.push(absolute({ id, figure }, value, context.smoke ? undefined : goal));
  };
  add(`${ready.tuples} tuples`, 'bytes a tuple', ready.bytesPerTuple, { at_most: 130 });
  add('load from the table', 'tuples/s', ready.fromTable, { at_least: 50_000 });
  add('load from a file', 'tuples/s', ready.fromFile, { at_least: 1_000_000 });
  add('save to a file', 'tuples/s', ready.toFile);
  for (const pair of pairs) {
    const row = await context.compare({ ...pair, id: `fga-in-process ${pair.id}` });
    rows.push(row);
    if (pair.floor.name !== WITHOUT_REASON) continue;
    const sides = [
      [pair.floor.name, row.floor_measured],
      [pair.subject.name, row.subject_measured],
    ] as const;
    for (const [name, { cpu_ms = Number.NaN }] of sides) {
      add(name, 'per second and core', 1_000 / cpu_ms, { at_least: 500_000 });
    }
  }
  return rows;
}

/** The figures of the worker, including PostgreSQL's part. */
function sidesOf(worker: ChildProcess, postgresPid: number) {
  return (what: string, name = what): Side => ({
    name,
    measure: async (seconds) => {
      const before = familyMs(postgresPid);
      worker.send({ what, seconds });
      const own = (await answerOf(worker)) as Measured & { readonly count: number };
      if (!what.startsWith('table')) return own;
      return { ...own, cpu_ms: (own.cpu_ms ?? 0) + (familyMs(postgresPid) - before) / own.count };
    },
  });
}

async function analyze(connectionString: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  await client.query('VACUUM ANALYZE authz.tuples').finally(() => client.end());
}

/** A figure that is compared with its goal instead of with another side. */
function absolute(
  { id, figure }: { readonly id: string; readonly figure: string },
  value: number,
  goal: Goal | undefined,
): Row {
  const isMet =
    goal === undefined || ('at_least' in goal ? value >= goal.at_least : value <= goal.at_most);
  const verdict = goal === undefined ? 'info' : isMet ? 'met' : 'missed';
  console.log(`  ${id}: ${value.toFixed(0)} ${figure} (${goalText(goal) || 'no goal'}) ${verdict}`);
  const nothing = { per_second: Number.NaN, p50_ms: Number.NaN, p99_ms: Number.NaN, errors: 0 };
  return {
    id: `fga-in-process ${id}`,
    subject: figure,
    floor: '',
    figure,
    ratio: value,
    min: value,
    max: value,
    goal: goalText(goal),
    verdict,
    marks: [],
    subject_measured: nothing,
    floor_measured: nothing,
  };
}

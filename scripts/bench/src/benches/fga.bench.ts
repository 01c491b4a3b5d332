/**
 * fga: checks and lists over HTTP, compared with servers that do nothing and, by `--against openfga,spicedb`, with
 * servers that answer the same questions about the same tuples. The server has one core, the client another. The
 * figures are operations per second of processor time, of the server with its database and of the server alone.
 */
import { type CheckServer, type Question, sent } from '../against/check-server.ts';
import { compareAnswers, compareLists, LISTS_AT_ONCE } from '../against/compare-answers.ts';
import { NotBuilt } from '../against/go-binaries.ts';
import { startOpenFga } from '../against/openfga.ts';
import { startNoOp, startOurs } from '../against/ours.ts';
import { inTurn, loaded, rowOf } from '../against/rounds.ts';
import { startSpiceDb } from '../against/spicedb.ts';
import type { Bench, BenchContext, Goal, Row, Side } from '../harness.ts';
import type { LoadRequest } from '../http.ts';
import { FGA_SETS, type FgaSetName, fgaSet, freshTuple, zipf } from '../subjects/fga-sets.ts';

const QUESTIONS = 2_000;
/**
 * The number of answers that are compared before the servers are measured. `whole` is for measurements of 5 s and more.
 */
const COMPARED = {
  whole: { checks: 20_000, lists: 200 },
  short: { checks: 4_000, lists: 40 },
  smoke: { checks: 200, lists: 10 },
};
const WHOLE_SECONDS = 5;
const ZIPF_DRAWS = 5_000;
/** One of this many requests is a write or, alternately, a delete. */
const CHANGE_EVERY = 100;
const CONNECTIONS = 32;
const LISTS = 50;
/** The load of the latency measurement, as a share of the slowest server's capacity. */
const CALM_SHARE = 0.5;
/** With fewer requests, the 99th percentile is the slowest one, which a single pause of the machine determines. */
const P99_REQUESTS_MIN = 300;
/** The number of revocations in one round of one server. With two other servers there are 18 such rounds. */
const REVOCATIONS = { whole: 100, short: 20, smoke: 5 };

export const benches: readonly Bench[] = FGA_SETS.map((name) => ({
  id: `fga ${name}`,
  title: `checks over HTTP, ${name} tuples`,
  isLong: true,
  run: (context: BenchContext) => checks(context, name),
}));

const sizeOf = ({ smoke, seconds }: BenchContext): 'whole' | 'short' | 'smoke' =>
  smoke ? 'smoke' : seconds < WHOLE_SECONDS ? 'short' : 'whole';

/** Prints how long loading took, because it takes longer than all measurements. */
async function timed<T>(name: string, start: () => Promise<T>): Promise<T> {
  const begunMs = performance.now();
  const made = await start();
  console.log(`  ${name}: loaded in ${((performance.now() - begunMs) / 1000).toFixed(0)} s`);
  return made;
}

/** The servers that the names of `--against` start. */
const AGAINST: {
  readonly [name: string]: (
    context: BenchContext,
    set: ReturnType<typeof fgaSet>,
  ) => Promise<CheckServer>;
} = {
  openfga: (context, set) => startOpenFga(context, set.tuples(), false),
  'openfga-cached': (context, set) => startOpenFga(context, set.tuples(), true),
  spicedb: (context, set) => startSpiceDb(context, set.tuples(), false),
  'spicedb-cached': (context, set) => startSpiceDb(context, set.tuples(), true),
};

/** The minimum factor by which our throughput exceeds theirs, per second of processor time. */
const TIMES: { readonly [set in FgaSetName]: { readonly [server: string]: number } } = {
  nested: { OpenFGA: 40, SpiceDB: 80 },
  direct: { OpenFGA: 5, SpiceDB: 8 },
};
const LISTED_TIMES = 5;
/** The minimum ratio to Express without its router. B4 measures with the router. */
const OF_EXPRESS = 1.2;
const OF_BARE = 0.5;
const P99_OF_EXPRESS = 2.5;
const P99_OF_OTHERS = 0.1;

async function checks(context: BenchContext, name: FgaSetName): Promise<readonly Row[]> {
  const set = fgaSet(name, context.smoke);
  const ours = await timed('Cardea', () => startOurs(context, name));
  const others: CheckServer[] = [];
  for (const other of context.against) {
    const start = AGAINST[other];
    if (start === undefined) throw new Error(`--against takes ${Object.keys(AGAINST).join(', ')}`);
    const server = await timed(other, () => start(context, set)).catch((error: unknown) => {
      if (!(error instanceof NotBuilt)) throw error;
      console.log(`  without ${other}: ${error.message}`);
    });
    if (server) others.push(server);
  }
  const servers = [ours, ...others];
  const sizes = COMPARED[sizeOf(context)];
  const asked = Array.from({ length: sizes.checks }, (_, at) => set.question(at * 3 + 1));
  await compareAnswers(servers, asked);
  const listed = Array.from({ length: sizes.lists }, (_, at) => set.question(at));
  const objects = (await compareLists(servers, listed)).slice(0, LISTS);

  const questions = Array.from({ length: QUESTIONS }, (_, at) => set.question(at));
  const bench: Measurements = { context, name, ours, others };
  const uniform = (server: CheckServer) => questions.map((each) => server.check(each));
  const drawn = zipf(QUESTIONS, ZIPF_DRAWS);
  const rows = await closedLoop(bench, 'checks', uniform, await floors(context, uniform(ours)));
  rows.push(
    ...(await closedLoop(bench, 'checks, Zipf', (server) =>
      drawn.map((at) => server.check(questions[at] as Question)),
    )),
    ...(await closedLoop(bench, 'checks, 1 % changes', (server) =>
      uniform(server).map((check, at) => changeInstead(server, at) ?? check),
    )),
    ...(await openLoop(bench, uniform, rows)),
    ...(await lists(bench, listed.slice(0, LISTS), mean(objects))),
    ...(await revocations(bench)),
  );
  return rows;
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

type Measurements = {
  readonly context: BenchContext;
  readonly name: FgaSetName;
  readonly ours: CheckServer;
  readonly others: readonly CheckServer[];
};

function changeInstead(server: CheckServer, at: number): LoadRequest | undefined {
  if (at % CHANGE_EVERY !== 0) return undefined;
  const turn = at / CHANGE_EVERY;
  const tuple = freshTuple(Math.floor(turn / 2));
  return turn % 2 === 0 ? server.write(tuple) : server.delete(tuple);
}

/** Measures servers of the same kind that do nothing, with the same requests. */
async function floors(
  context: BenchContext,
  requests: readonly LoadRequest[],
): Promise<readonly Floor[]> {
  return [
    {
      ...(await startNoOp(context, 'bare')),
      name: 'bare node:http no-op',
      requests,
      goals: { per_cpu_second: { at_least: OF_BARE } },
    },
    {
      ...(await startNoOp(context, 'express')),
      name: 'Express no-op',
      requests,
      goals: { per_cpu_second: { at_least: OF_EXPRESS }, p99_ms: { at_most: P99_OF_EXPRESS } },
    },
  ];
}

type Floor = {
  readonly name: string;
  readonly pid: number;
  readonly origin: string;
  readonly requests: readonly LoadRequest[];
  readonly goals: { readonly per_cpu_second?: Goal; readonly p99_ms?: Goal };
};

/** Measures all sides in turn in each round, so that other load on the machine affects all of them. */
async function closedLoop(
  { context, name, ours, others }: Measurements,
  what: string,
  requestsOf: (server: CheckServer) => readonly LoadRequest[],
  floors: readonly Floor[] = [],
): Promise<Row[]> {
  const against: readonly Floor[] = [
    ...floors,
    ...others.map((other) => {
      const times = what === 'checks' ? TIMES[name][other.name] : undefined;
      const goals = times === undefined ? {} : { per_cpu_second: { at_least: times } };
      return { ...other, requests: requestsOf(other), goals };
    }),
  ];
  const subject = await loaded(context, ours, requestsOf(ours), CONNECTIONS);
  const sides: Side[] = [];
  for (const each of against) {
    sides.push(await loaded(context, each, each.requests, CONNECTIONS));
  }
  const measured = await inTurn(context, [subject, ...sides]);
  return against.flatMap(({ name: floor, goals }, at) =>
    (['per_cpu_second', 'per_own_cpu_second', 'p99_ms'] as const)
      .filter((figure) => figure !== 'p99_ms' || goals[figure] !== undefined)
      .map((figure) => {
        const goal = figure === 'per_own_cpu_second' ? undefined : goals[figure];
        const id = `fga ${name}: ${what}`;
        const pair = { id, subject: ours, floor: { name: floor }, figure, ...(goal && { goal }) };
        return rowOf(context, pair, measured, at + 1);
      }),
  );
}

/** Measures latency under the same load for all sides: half of the slowest server's capacity. */
async function openLoop(
  { context, name, ours, others }: Measurements,
  requestsOf: (server: CheckServer) => readonly LoadRequest[],
  closed: readonly Row[],
): Promise<Row[]> {
  if (others.length === 0) return [];
  const capacities = closed.map(({ floor_measured }) => floor_measured.per_second);
  const perSecond = Math.max(1, Math.floor(Math.min(...capacities) * CALM_SHARE));
  const sides: Side[] = [];
  for (const server of [ours, ...others]) {
    const load = { connections: CONNECTIONS, perSecond };
    sides.push(await loaded(context, server, requestsOf(server), load));
  }
  const seconds = context.smoke
    ? context.seconds
    : Math.max(context.seconds, P99_REQUESTS_MIN / perSecond);
  const measured = await inTurn({ ...context, seconds }, sides);
  const goal = name === 'nested' ? { goal: { at_most: P99_OF_OTHERS } } : {};
  const id = `fga ${name}: ${perSecond} checks/s`;
  return others.map((floor, at) =>
    rowOf(context, { id, subject: ours, floor, figure: 'p99_ms', ...goal }, measured, at + 1),
  );
}

/** Objects listed per second of processor time. */
async function lists(
  { context, name, ours, others }: Measurements,
  asked: readonly Question[],
  objects: number,
): Promise<Row[]> {
  const sides: Side[] = [];
  for (const server of [ours, ...others]) {
    const requests = asked.map((question) => server.list(question));
    const side = await loaded(context, server, requests, LISTS_AT_ONCE);
    sides.push({
      name: server.name,
      measure: async (seconds) => {
        const done = await side.measure(seconds);
        return { ...done, per_cpu_second: (done.per_cpu_second ?? Number.NaN) * objects };
      },
    });
  }
  const measured = await inTurn(context, sides);
  const id = `fga ${name}: objects listed, ${objects.toFixed(0)} a list`;
  return others.map((floor, at) => {
    const goal = floor.name === 'OpenFGA' ? { goal: { at_least: LISTED_TIMES } } : {};
    const pair = { id, subject: ours, floor, figure: 'per_cpu_second', ...goal } as const;
    return rowOf(context, pair, measured, at + 1);
  });
}

/** Measures the time from sending a delete until a check is denied, for one delete after another. */
async function revocations({ context, name, ours, others }: Measurements): Promise<Row[]> {
  const count = REVOCATIONS[sizeOf(context)];
  const sides = [ours, ...others].map(
    (server, place): Side => ({
      name: server.name,
      measure: async () => {
        const times: number[] = [];
        for (let at = 0; at < count; at++) {
          const tuple = freshTuple(1_000_000 + place * count + at);
          await sent(server.origin, server.write(tuple));
          const start = performance.now();
          await sent(server.origin, server.delete(tuple));
          while (server.allowed(await sent(server.origin, server.check(tuple))));
          times.push(performance.now() - start);
        }
        times.sort((a, b) => a - b);
        const [p50_ms, p99_ms] = [0.5, 0.99].map((share) => times[Math.floor(count * share)]);
        return { per_second: Number.NaN, p50_ms: p50_ms ?? 0, p99_ms: p99_ms ?? 0, errors: 0 };
      },
    }),
  );
  const measured = await inTurn(context, sides);
  const id = `fga ${name}: delete until denied`;
  return others.map((floor, at) =>
    rowOf(context, { id, subject: ours, floor, figure: 'p50_ms' }, measured, at + 1),
  );
}

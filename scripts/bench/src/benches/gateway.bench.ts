/** B12: the cost of the gateway's own work, compared with that of the service that it forwards to. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Bench, BenchContext, Row, Side } from '../harness.ts';
import { httpSide, type LoadRequest } from '../http.ts';
import { pairsOf, started } from '../started.ts';

const WORKER = new URL('../workers/gateway.worker.ts', import.meta.url);
const CONNECTIONS = 32;
const GOAL = { at_most: 0.3 };

export const benches: readonly Bench[] = [
  { id: 'B12', title: 'processor time that the gateway adds to a request', run: added },
];

type Ready = {
  readonly origin: string;
  readonly pid: number;
  readonly headers: { readonly [name: string]: string };
  readonly question: string;
};

async function added(context: BenchContext): Promise<readonly Row[]> {
  const { origin, pid, headers, question } = await started<Ready>(
    context,
    WORKER,
    await context.database(),
  );
  const gateway = await gatewayTo(context, new URL(origin).host);
  if (gateway === undefined) {
    console.log('  skipped: there is no nginx here');
    return [];
  }
  context.onEnd(() => gateway.stop());
  const check = { path: '/api/v1/fga/check', body: question, contains: '"allowed":true' };
  const asked: readonly LoadRequest[] = [
    { method: 'POST', ...check, headers, status: 200 },
    { method: 'GET', path: '/api/v1/fga/tuples?limit=20', headers, status: 200 },
  ];
  const rows: Row[] = [];
  for (const request of pairsOf(context, asked)) {
    const title = `${request.method} ${request.path}`;
    const load = { connections: CONNECTIONS, requests: [request] };
    const led = await httpSide(context, title, { ...load, origin: gateway.url });
    const straight = await httpSide(context, title, { ...load, origin });
    rows.push(
      await context.compare({
        id: `B12 ${title}`,
        subject: timed(led, 'the gateway alone', () => workersOf(gateway.pid)),
        floor: timed(straight, `the service, asked without it`, () => [pid]),
        figure: 'cpu_ms',
        goal: GOAL,
      }),
    );
  }
  return rows;
}

function gatewayTo({ startGateway }: BenchContext, address: string) {
  const one = [address];
  const upstreams = {
    identity: one,
    authz: one,
    vault: one,
    approval: one,
    webhooks: one,
    audit: one,
  };
  return startGateway(upstreams);
}

/** Replaces the load generator's CPU time by that of these processes, per request. */
function timed(side: Side, name: string, pids: () => readonly number[]): Side {
  return {
    name,
    measure: async (seconds) => {
      const before = processorMs(pids());
      const measured = await side.measure(seconds);
      const spent = processorMs(pids()) - before;
      return { ...measured, cpu_ms: spent / (measured.per_second * seconds) };
    },
  };
}

/** The CPU time of all threads, which the scheduler counts in nanoseconds. */
const processorMs = (pids: readonly number[]): number =>
  pids
    .flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((thread) => `${pid}/task/${thread}`))
    .map((thread) => Number(readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
    .reduce((sum, ms) => sum + ms, 0);

const workersOf = (master: number): readonly number[] =>
  readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ').map(Number);

/** B4: the cost of a check, compared with a server of the same kind that does nothing. */
import type { Bench, BenchContext, Row } from '../harness.ts';
import { httpSide, type LoadRequest } from '../http.ts';
import { expressNoop, pairsOf, started } from '../started.ts';

const WORKER = new URL('../workers/fga-check.worker.ts', import.meta.url);
/** About as long as the response to a check. */
const NOOP_ANSWER = '{"allowed":true,"reason":"user:a viewer document:d"}';
const OF_EXPRESS = 0.6;
/** The set that the worker uses by default. */
const REFERENCE = 'reference';
const MEASURED = [
  { title: '32 connections', fastPath: 'on', connections: 32 },
  { title: '1 connections', fastPath: 'on', connections: 1 },
  { title: '128 connections', fastPath: 'on', connections: 128 },
  { title: "32 connections, through Express' router", fastPath: 'off', connections: 32 },
] as const;
const PATH = '/api/v1/fga/check';

export const benches: readonly Bench[] = [
  { id: 'B4', title: 'checks per second with 100,000 tuples', isLong: true, run: checks },
];

type Ready = {
  readonly origin: string;
  readonly headers: { readonly [name: string]: string };
  readonly questions: readonly string[];
};

async function checks(context: BenchContext): Promise<readonly Row[]> {
  const floorOrigin = await expressNoop(context, NOOP_ANSWER);
  const rows: Row[] = [];
  const servers = new Map<string, ReturnType<typeof startChecking>>();
  for (const { title, fastPath, connections } of pairsOf(context, MEASURED)) {
    const server = servers.get(fastPath) ?? startChecking(context, fastPath);
    servers.set(fastPath, server);
    const { origin, requests } = await server;
    const subject = await httpSide(context, 'POST /fga/check, API key', {
      origin,
      connections,
      requests: requests.map((request) => ({ ...request, contains: '"allowed":' })),
    });
    const floor = await httpSide(context, 'Express no-op POST', {
      origin: floorOrigin,
      connections,
      requests,
    });
    const goal = connections === 32 ? { goal: { at_least: OF_EXPRESS } } : {};
    rows.push(await context.compare({ id: `B4 ${title}`, subject, floor, ...goal }));
  }
  return rows;
}

async function startChecking(context: BenchContext, fastPath: 'on' | 'off') {
  const size = context.smoke ? 'smoke' : 'whole';
  const database = await context.database();
  const { origin, headers, questions } = await started<Ready>(
    context,
    WORKER,
    ...[database, size, REFERENCE, fastPath],
  );
  const requests = questions.map(
    (body): LoadRequest => ({ method: 'POST', path: PATH, headers, body, status: 200 }),
  );
  return { origin, requests };
}

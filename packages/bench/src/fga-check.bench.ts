/** B4: the cost of a check, compared with a server of the same kind that does nothing. */
import type { Bench, BenchContext, Row } from './harness.ts';
import { httpSide, type LoadRequest } from './http.ts';
import { expressNoop, pairsOf, started } from './started.ts';

const WORKER = new URL('./fga-check.worker.ts', import.meta.url);
/** About as long as the response to a check. */
const NOOP_ANSWER = '{"allowed":true,"reason":"user:a viewer document:d"}';
const CONNECTIONS = [32, 1, 128] as const;
const PATH = '/api/v1/fga/check';

export const benches: readonly Bench[] = [
  { id: 'B4', title: 'checks per second with 100,000 tuples', run: checks },
];

type Ready = {
  readonly origin: string;
  readonly headers: { readonly [name: string]: string };
  readonly questions: readonly string[];
};

async function checks(context: BenchContext): Promise<readonly Row[]> {
  const { origin, headers, questions } = await started<Ready>(
    context,
    WORKER,
    await context.database(),
    context.smoke ? 'smoke' : 'whole',
  );
  const floorOrigin = await expressNoop(context, NOOP_ANSWER);
  const requests = questions.map(
    (body): LoadRequest => ({ method: 'POST', path: PATH, headers, body, status: 200 }),
  );
  const rows: Row[] = [];
  for (const connections of pairsOf(context, CONNECTIONS)) {
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
    const id = `B4 ${connections} connections`;
    const goal = connections === 32 ? { goal: { at_least: 0.4 } } : {};
    rows.push(await context.compare({ id, subject, floor, ...goal }));
  }
  return rows;
}

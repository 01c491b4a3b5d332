/** fga-writes: the cost of a tuple in a batch, compared with a request for each tuple. */
import { startOurs } from '../against/ours.ts';
import { inTurn, loaded, rowOf } from '../against/rounds.ts';
import type { Bench, BenchContext, Row, Side } from '../harness.ts';
import type { LoadRequest } from '../http.ts';
import { freshTuple } from '../subjects/fga-sets.ts';

const BATCH = '/api/v1/fga/tuples/batch';
const BATCH_TUPLES = 100;
/** The tuples are written one after another, then deleted, and so on, so that each request changes something. */
const TUPLES = 4_000;
const CONNECTIONS = 8;

export const benches: readonly Bench[] = [
  {
    id: 'fga-writes',
    title: 'tuples written and deleted, in batches and singly',
    isLong: true,
    run: writes,
  },
];

async function writes(context: BenchContext): Promise<readonly Row[]> {
  const ours = await startOurs(context, 'direct');
  const tuples = Array.from({ length: TUPLES }, (_, at) => freshTuple(at));
  const single = [...tuples.map(ours.write), ...tuples.map(ours.delete)];
  const [{ headers = {} } = {}] = single;
  const batches = Array.from({ length: TUPLES / BATCH_TUPLES }, (_, at) =>
    tuples.slice(at * BATCH_TUPLES, (at + 1) * BATCH_TUPLES),
  );
  const batched = (['writes', 'deletes'] as const).flatMap((list) =>
    batches.map(
      (batch): LoadRequest => ({
        method: 'POST',
        path: BATCH,
        headers,
        body: JSON.stringify({ [list]: batch }),
        status: 200,
      }),
    ),
  );
  const floor = await loaded(context, { ...ours, name: 'one a request' }, single, CONNECTIONS);
  const many = await loaded(context, { ...ours, name: '100 a request' }, batched, CONNECTIONS);
  const subject: Side = {
    name: many.name,
    measure: async (seconds) => {
      const done = await many.measure(seconds);
      const each = (rate = Number.NaN) => rate * BATCH_TUPLES;
      return {
        ...done,
        per_second: each(done.per_second),
        per_cpu_second: each(done.per_cpu_second),
        per_own_cpu_second: each(done.per_own_cpu_second),
      };
    },
  };
  const measured = await inTurn(context, [subject, floor]);
  const row = (figure: 'per_own_cpu_second' | 'per_cpu_second', at_least: number): Row =>
    rowOf(context, { id: 'fga-writes', subject, floor, figure, goal: { at_least } }, measured, 1);
  return [row('per_own_cpu_second', 10), row('per_cpu_second', 5)];
}

/** B10: a page of the audit log compared with the same SQL through the bare driver, with a million rows. */
import { type Bench, type BenchContext, type Row, workerSide } from '../harness.ts';
import { httpSide } from '../http.ts';
import { started } from '../started.ts';

const ROWS = 1_000_000;
const ROWS_SMOKE = 10_000;
const CONNECTIONS = 8;

export const benches: readonly Bench[] = [
  { id: 'B10', title: 'a page of 100 audit rows by type and time', isLong: true, run: page },
];

type Ready = {
  readonly origin: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly query: string;
};

async function page(context: BenchContext): Promise<readonly Row[]> {
  const database = await context.database();
  const rows = String(context.smoke ? ROWS_SMOKE : ROWS);
  const { origin, path, headers, query } = await started<Ready>(
    context,
    new URL('../workers/audit.worker.ts', import.meta.url),
    database,
    rows,
  );
  const subject = await httpSide(context, 'GET /audit/events', {
    origin,
    connections: CONNECTIONS,
    requests: [{ method: 'GET', path, headers, status: 200, contains: '"count":100' }],
  });
  const floor = await workerSide(
    context,
    'the same SQL, bare pg',
    new URL('../workers/sql.worker.ts', import.meta.url),
    [database, String(CONNECTIONS), query],
  );
  return [await context.compare({ id: 'B10', subject, floor, goal: { at_least: 0.4 } })];
}

/** Sides that are measured in turn, each with its server's processor time. */
import { loadavg } from 'node:os';
import { judged, resultLine, roundsOf } from '../compare.ts';
import type { BenchContext, Measured, Pair, Row, Side } from '../harness.ts';
import { httpSide, type LoadRequest } from '../http.ts';
import { familyMs, processorMs } from '../processor-time.ts';
import { type CheckServer, CLIENT_CORE, pin } from './check-server.ts';

/** A load generator on its own core; the figures have the server's processor time and memory. */
export async function loaded(
  context: BenchContext,
  { name, pid, origin }: Pick<CheckServer, 'name' | 'pid' | 'origin'>,
  requests: readonly LoadRequest[],
  load: number | { readonly connections: number; readonly perSecond: number },
): Promise<Side> {
  const how = typeof load === 'number' ? { connections: load } : load;
  const client = await httpSide(context, name, { origin, requests, ...how });
  pin(client.pid, CLIENT_CORE);
  return {
    name,
    measure: async (seconds) => {
      const before = processorMs(pid);
      // One side at a time: what PostgreSQL does meanwhile, it does for this one.
      const databaseBefore = familyMs(context.postgresPid);
      const { count = Number.NaN, ...measured } = await client.measure(seconds);
      const own = processorMs(pid) - before;
      const cpu_ms = (own + familyMs(context.postgresPid) - databaseBefore) / count;
      const per_own_cpu_second = (1_000 * count) / own;
      return { ...measured, count, cpu_ms, per_cpu_second: 1_000 / cpu_ms, per_own_cpu_second };
    },
  };
}

/** All sides of one round after the other: what the machine does meanwhile falls on all of them. */
export type Rounds = { readonly loaded: number; readonly of: readonly (readonly Measured[])[] };

export async function inTurn(context: BenchContext, sides: readonly Side[]): Promise<Rounds> {
  const { smoke, seconds } = context;
  const loaded = loadavg()[0] ?? 0;
  const of: Measured[][] = [];
  for (let round = smoke ? 1 : 0; round <= roundsOf(smoke); round++) {
    const measured: Measured[] = [];
    for (const side of sides) measured.push(await side.measure(seconds));
    // The first round is the warm-up.
    if (round > 0) of.push(measured);
  }
  return { loaded, of };
}

export function rowOf(
  { smoke }: BenchContext,
  pair: Pick<Pair, 'id' | 'goal' | 'figure'> & Record<'subject' | 'floor', { name: string }>,
  { loaded, of }: Rounds,
  at: number,
): Row {
  const rounds = of.map((round) => ({
    subject: round[0] as Measured,
    floor: round[at] as Measured,
  }));
  const row = judged(pair, rounds, { loaded, smoke });
  console.log(`  ${row.floor} / ${resultLine(row)}`);
  return row;
}

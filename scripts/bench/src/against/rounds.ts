/** Sides that are measured in turn, each with its server's processor time. */
import { judged, resultLine, roundsOf, warmUpSeconds } from '../compare.ts';
import type { BenchContext, Measured, Pair, Row, Side } from '../harness.ts';
import { httpSide, type LoadRequest } from '../http.ts';
import { familyMs, processorMs } from '../processor-time.ts';
import { type CheckServer, CLIENT_CORE, pin } from './check-server.ts';

/** Measures a load from its own core. The figures include the server's processor time and memory. */
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
      // Only one side is measured at a time, so PostgreSQL's processor time belongs to it.
      const databaseBefore = familyMs(context.postgresPid);
      const { count = Number.NaN, ...measured } = await client.measure(seconds);
      const own = processorMs(pid) - before;
      const cpu_ms = (own + familyMs(context.postgresPid) - databaseBefore) / count;
      const per_own_cpu_second = (1_000 * count) / own;
      return { ...measured, count, cpu_ms, per_cpu_second: 1_000 / cpu_ms, per_own_cpu_second };
    },
  };
}

/** The sides of a round are measured one after another, so other load on the machine affects all of them. */
export type Rounds = readonly (readonly Measured[])[];

export async function inTurn(context: BenchContext, sides: readonly Side[]): Promise<Rounds> {
  const { smoke, seconds } = context;
  const rounds: Measured[][] = [];
  for (let round = smoke ? 1 : 0; round <= roundsOf(smoke); round++) {
    const isWarmUp = round === 0;
    const measured: Measured[] = [];
    for (const side of sides) {
      measured.push(await side.measure(isWarmUp ? warmUpSeconds(seconds) : seconds));
    }
    if (!isWarmUp) rounds.push(measured);
  }
  return rounds;
}

export function rowOf(
  context: BenchContext,
  pair: Pick<Pair, 'id' | 'goal' | 'figure'> & Record<'subject' | 'floor', { name: string }>,
  measured: Rounds,
  at: number,
): Row {
  const rounds = measured.map((round) => ({
    subject: round[0] as Measured,
    floor: round[at] as Measured,
  }));
  const row = judged(pair, rounds, context);
  console.log(`  ${row.floor} / ${resultLine(row)}`);
  return row;
}

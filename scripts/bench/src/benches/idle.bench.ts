/** B17: the processor time of an idle product, how soon it serves, and its memory. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench, BenchContext, Row, Side } from '../harness.ts';
import { goalIn, wholeSystem } from '../whole-system.ts';

/** Five rounds make a minute. */
const ROUND_SECONDS = 12;
/** Caches fill and connections open shortly after the start. */
const SETTLED_SECONDS = 10;
const GOAL = { at_most: 0.01 };
const MS_PER_SECOND = 1000;

export const benches: readonly Bench[] = [
  { id: 'B17', title: 'a fresh start, and then nothing to do', run: idle },
];

async function idle(context: BenchContext): Promise<readonly Row[]> {
  const began = performance.now();
  const system = await wholeSystem(context);
  const answer = await fetch(new URL('/health', system.base));
  if (answer.status !== 200) throw new Error(`/health answered ${answer.status}`);
  const seconds = (performance.now() - began) / MS_PER_SECOND;
  console.log(`  to the first 200: ${seconds.toFixed(1)} s (some 10 s wanted)`);
  const memory = system.serverPids.map(residentMb);
  console.log(`  idle: ${memory.join(', ')} MB resident (at most 250 each wanted)`);
  if (!context.smoke) await pause(SETTLED_SECONDS * MS_PER_SECOND);
  const subject: Side = {
    name: 'all processes and PostgreSQL, per second of idling',
    measure: async (wanted) => {
      const lasts = context.smoke ? wanted : ROUND_SECONDS;
      const before = system.processorMs();
      await pause(lasts * MS_PER_SECOND);
      const cpu_ms = (system.processorMs() - before) / lasts;
      return { ...NO_LATENCY, cpu_ms };
    },
  };
  const floor: Side = {
    name: 'one core',
    measure: async () => ({ ...NO_LATENCY, cpu_ms: MS_PER_SECOND }),
  };
  const pair = { id: 'B17', subject, floor, figure: 'cpu_ms' as const };
  return [await context.compare({ ...pair, ...goalIn(context, GOAL) })];
}

const NO_LATENCY = { per_second: Number.NaN, p50_ms: Number.NaN, p99_ms: Number.NaN, errors: 0 };

/** Undefined where there is no /proc. */
function residentMb(pid: number): number | undefined {
  try {
    const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kb) / 1024);
  } catch {
    return undefined;
  }
}

/** The time from a fresh start to the first response, and the memory of the idle process. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryInstance } from '@cardea/testing';
import type { Bench, BenchContext, Row } from './harness.ts';

const IDLE_MS = 5000;
const IDLE_MS_SMOKE = 100;

export const benches: readonly Bench[] = [
  { id: 'start', title: 'a fresh start, and the idle process', run: start },
];

/** Printed, not compared: no floor would be comparable on another machine. */
async function start({ smoke, onEnd }: BenchContext): Promise<readonly Row[]> {
  const began = performance.now();
  const instance = await temporaryInstance(() => undefined);
  onEnd(() => instance.stop());
  const answer = await fetch(new URL('/health', instance.base));
  if (answer.status !== 200) throw new Error(`/health answered ${answer.status}`);
  const seconds = (performance.now() - began) / 1000;
  await pause(smoke ? IDLE_MS_SMOKE : IDLE_MS);
  console.log(`  to the first 200: ${seconds.toFixed(1)} s (some 10 s wanted)`);
  console.log(`  idle process: ${residentMb(instance.pid)} MB resident (at most 250 wanted)`);
  return [];
}

/** Undefined where there is no /proc. */
function residentMb(pid: number): number | undefined {
  try {
    const pages = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(pages) / 1024);
  } catch {
    return undefined;
  }
}

/** Measures how much the memory of a process grows while something runs. */
import { procText } from '@cardea/testing';

const MEMORY_EVERY_MS = 20;

/** Returns by how many MB the memory of a process rises above its present size; 0 without /proc. */
export function growthOf(pid: number) {
  const now = () => Number(/VmRSS:\s+(\d+)/.exec(procText(`/proc/${pid}/status`))?.[1] ?? 0);
  const before = now();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, now());
  }, MEMORY_EVERY_MS);
  return { stop: () => clearInterval(timer), most: () => (most - before) / 1024 };
}

/** A rate with a burst, per key and process. */
import type { Clock } from '@cardea/runtime';
import QuickLRU from 'quick-lru';

const KEYS_MAX = 20_000;
const SECOND_MS = 1_000;

/** True while the key is within `perSecond` and the burst. */
export function bucket(
  clock: Pick<Clock, 'monotonicMs'>,
  { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
): (key: string) => boolean {
  const levels = new QuickLRU<string, { left: number; atMs: number }>({ maxSize: KEYS_MAX });
  return (key) => {
    const nowMs = clock.monotonicMs();
    const before = levels.get(key) ?? { left: burst, atMs: nowMs };
    const refilled = ((nowMs - before.atMs) / SECOND_MS) * perSecond;
    const left = Math.min(burst, before.left + refilled);
    const passes = left >= 1;
    levels.set(key, { left: passes ? left - 1 : left, atMs: nowMs });
    return passes;
  };
}

/** A rate with a burst, per key and process. */
import { type Clock, expiringCache } from '@cardea/runtime';

const KEYS_MAX = 20_000;
const SECOND_MS = 1_000;

/** True while the key is within `perSecond` and the burst. */
export function bucket(
  clock: Pick<Clock, 'monotonicMs'>,
  { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
): (key: string) => boolean {
  // A bucket that was left alone for so long is full, as one is that nobody used.
  const levels = expiringCache<string, { left: number; atMs: number }>(clock, {
    entriesMax: KEYS_MAX,
    ttlMs: (burst / perSecond) * SECOND_MS,
  });
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

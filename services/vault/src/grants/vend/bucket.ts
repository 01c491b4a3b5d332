/** A rate limit with a burst, per key and process. */
import { type Clock, expiringCache } from '@cardea/runtime';

const KEYS_MAX = 20_000;
const SECOND_MS = 1_000;

/** Returns true while the key is within `perSecond` and the burst. */
export function bucket(
  clock: Pick<Clock, 'monotonicMs'>,
  { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
): (key: string) => boolean {
  // A bucket is full after this time without use, so it can be dropped.
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

/** Counts per minute, in the shared cache and in this process, so that limits also apply without the cache. */
import { type Cache, type Clock, limitCounters } from '@cardea/runtime';

export type Counters = {
  /**
   * Adds one to the count. Returns undefined if the count is within `max`, and otherwise the milliseconds until the
   * window ends.
   */
  over(key: string, max: number, windowMs: number): Promise<number | undefined>;
};

export function counters(cache: Pick<Cache, 'increment' | 'get'>, clock: Clock): Counters {
  const counted = limitCounters(cache, clock);
  return {
    over: async (key, max, windowMs) => {
      const { count, remainingMs } = await counted.add(`approval:${key}`, 1, windowMs);
      return count > max ? Math.max(1, remainingMs) : undefined;
    },
  };
}

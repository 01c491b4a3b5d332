/** Counts per minute, in the shared cache; in this process alone while that is away. */
import { type Cache, CacheUnavailable, type Clock, inProcessCache } from '@cardea/runtime';

/** Counters kept here while the shared cache is away. */
const OWN_COUNTERS_MAX = 10_000;

export type Counters = {
  /** Counts one more; undefined while within `max`, else the milliseconds until the window ends. */
  over(key: string, max: number, windowMs: number): Promise<number | undefined>;
};

export function counters(cache: Pick<Cache, 'increment'>, clock: Clock): Counters {
  const own = inProcessCache(clock, OWN_COUNTERS_MAX);
  const increment = async (key: string, windowMs: number) => {
    try {
      return await cache.increment(key, 1, windowMs);
    } catch (error) {
      if (!(error instanceof CacheUnavailable)) throw error;
      return own.increment(key, 1, windowMs);
    }
  };
  return {
    over: async (key, max, windowMs) => {
      const { count, remainingMs } = await increment(`approval:${key}`, windowMs);
      return count > max ? Math.max(1, remainingMs) : undefined;
    },
  };
}

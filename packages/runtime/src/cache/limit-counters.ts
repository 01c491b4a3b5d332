/**
 * Counts for limits, one in the shared cache and one in this process. So a limit also applies while the cache is
 * unavailable, and a cache that comes back empty does not reset counts.
 */

import { type Cache, CacheUnavailable, type Clock, type TokenBucket } from '../ports.ts';
import { inProcessCache } from './in-process-cache.ts';

/**
 * The maximum number of counts in this process. If there are more, the oldest are dropped here, but not in the cache.
 */
const OWN_COUNTERS_MAX = 50_000;

export type LimitCounters = {
  /** Adds to both counts. Returns the higher one, with what is left of its window. */
  add(key: string, by: number, ttlMs: number): Promise<{ count: number; remainingMs: number }>;
  /** Returns the higher count. */
  read(key: string): Promise<number>;
};

export function limitCounters(
  cache: Pick<Cache, 'increment' | 'get'>,
  clock: Clock,
  ownMax: number = OWN_COUNTERS_MAX,
): LimitCounters {
  const own = inProcessCache(clock, ownMax);
  return {
    add: async (key, by, ttlMs) => {
      const shared = await cache.increment(key, by, ttlMs).catch(noneIfAway);
      // Our window ends with the shared one. Otherwise it would reach into the next window and be stricter.
      const here = await own.increment(key, by, shared?.remainingMs ?? ttlMs);
      return shared === undefined || here.count > shared.count ? here : shared;
    },
    read: async (key) => {
      const shared = await cache.get(key).catch(noneIfAway);
      return Math.max(Number((await own.get(key)) ?? 0), Number(shared ?? 0));
    },
  };
}

/**
 * Takes a token of a bucket that all processes share, and one of this process's own. Tokens taken here are also missing
 * while the cache is unavailable, and when it comes back empty.
 */
export function sharedTokenBucket(
  cache: Pick<Cache, 'takeToken'>,
  clock: Clock,
  bucket: TokenBucket,
): (key: string) => Promise<boolean> {
  const own = inProcessCache(clock, OWN_COUNTERS_MAX);
  return async (key) => {
    const shared = await cache.takeToken(key, bucket).catch(noneIfAway);
    return shared !== false && (await own.takeToken(key, bucket));
  };
}

const noneIfAway = (error: unknown): undefined => {
  if (!(error instanceof CacheUnavailable)) throw error;
};

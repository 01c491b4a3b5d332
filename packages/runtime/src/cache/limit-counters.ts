/**
 * Counts for limits: one in the shared cache and one in this process. So a limit holds while the cache is
 * away, and a cache that comes back empty resets nobody's count.
 */

import { type Cache, CacheUnavailable, type Clock, type TokenBucket } from '../ports.ts';
import { inProcessCache } from './in-process-cache.ts';

/** Beyond it the oldest are forgotten here; the shared ones are not. */
const OWN_COUNTERS_MAX = 50_000;

export type LimitCounters = {
  /** Adds to both; the higher count is the answer, with what is left of its window. */
  add(key: string, by: number, ttlMs: number): Promise<{ count: number; remainingMs: number }>;
  /** The higher count. */
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
      // Our window ends with the shared one, or it would reach into the next and be stricter than that.
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
 * Takes a token of a bucket that all processes share, and one of this process's own beside it: what
 * was taken here is gone while the cache is away, and when it comes back empty.
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

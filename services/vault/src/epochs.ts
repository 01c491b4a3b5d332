/**
 * What a process caches of a tenant is valid for one epoch: a random value in the shared cache. Whoever
 * changes services, policies or grants replaces the value before answering, so that everything cached
 * earlier is read again.
 */
import {
  type Cache,
  CacheUnavailable,
  type Clock,
  expiringCache,
  type Ids,
  type Logger,
} from '@cardea/runtime';

export interface Epochs {
  /** Never throws: while the shared cache is unreachable, no process uses its cache. */
  changed(tenantId: string): Promise<void>;
  /** For a tenant that has no epoch yet; used from the next request on. */
  begin(tenantId: string): Promise<void>;
}

export const epochKey = (tenantId: string): string => `vault:epoch:${tenantId}`;

type Dependencies = { readonly cache: Cache; readonly ids: Ids; readonly log: Logger };

export function epochs({ cache, ids, log }: Dependencies): Epochs {
  const guarded = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof CacheUnavailable)) throw error;
      // The cache client logs the outage itself; during it and after it nothing cached before is used.
      log.debug({}, 'an epoch was not written');
    }
  };
  return {
    changed: (tenantId) => guarded(() => cache.set(epochKey(tenantId), ids.next())),
    begin: (tenantId) => guarded(() => cache.setIfAbsent(epochKey(tenantId), ids.next())),
  };
}

const CACHED_MS = 5_000;
const CACHED_ENTRIES_MAX = 10_000;

/** Values of one kind, each with the epoch that was read before the value was loaded. */
export interface EpochCache<T> {
  get(key: string, epoch: string | undefined): T | undefined;
  /** `tookMs`: since the value began to be loaded. */
  put(key: string, epoch: string | undefined, value: T, tookMs?: number): void;
  /** The cached value, or else the result of `load`. */
  through(key: string, epoch: string | undefined, load: () => Promise<T>): Promise<T>;
  drop(key: string): void;
  clear(): void;
}

export function epochCache<T>(clock: Pick<Clock, 'monotonicMs'>): EpochCache<T> {
  type Kept = { readonly epoch: string; readonly value: T };
  const kept = expiringCache<string, Kept>(clock, {
    entriesMax: CACHED_ENTRIES_MAX,
    ttlMs: CACHED_MS,
  });
  const current = (key: string, epoch: string | undefined): Kept | undefined => {
    const found = kept.get(key);
    return found?.epoch === epoch ? found : undefined;
  };
  const put = (key: string, epoch: string | undefined, value: T, tookMs = 0): void => {
    if (epoch !== undefined) kept.set(key, { epoch, value }, CACHED_MS - tookMs);
  };
  return {
    get: (key, epoch) => current(key, epoch)?.value,
    put,
    through: async (key, epoch, load) => {
      const found = current(key, epoch);
      if (found !== undefined) return found.value;
      const startMs = clock.monotonicMs();
      const value = await load();
      put(key, epoch, value, clock.monotonicMs() - startMs);
      return value;
    },
    drop: (key) => kept.delete(key),
    clear: () => kept.clear(),
  };
}

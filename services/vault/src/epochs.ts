/**
 * A process may use its cached values of a tenant for one epoch, which is a random value in the shared cache. A change
 * of services, policies or grants replaces that value before it is answered, so everything that was cached earlier is
 * read again.
 */
import {
  type Cache,
  CacheUnavailable,
  type Clock,
  expiringCache,
  type Ids,
  writeOrDistrust,
} from '@cardea/runtime';

export interface Epochs {
  /** Throws CacheUnavailable if processes may continue to use what they cached before. */
  changed(tenantId: string): Promise<void>;
  /** Works like `changed`, for a change that its own request has announced before. Does not wait. */
  changedBefore(tenantId: string): void;
  /** Creates the epoch of a tenant that has none. It is used from the next request on. */
  begin(tenantId: string): Promise<void>;
}

/** Lifetime of the value. Without a value nothing of the tenant is cached, so an unused value may expire. */
export const EPOCH_MS = 600_000;

export const epochKey = (tenantId: string): string => `vault:epoch:${tenantId}`;

type Dependencies = { readonly cache: Cache; readonly ids: Ids };

export function epochs({ cache, ids }: Dependencies): Epochs {
  const changed = (tenantId: string): Promise<void> =>
    writeOrDistrust(cache, () => cache.set(epochKey(tenantId), ids.next(), EPOCH_MS));
  return {
    changed,
    changedBefore: (tenantId) => {
      changed(tenantId).catch(unlessAway);
    },
    begin: async (tenantId) => {
      // Without an epoch nothing is cached.
      await cache.setIfAbsent(epochKey(tenantId), ids.next(), EPOCH_MS).catch(unlessAway);
    },
  };
}

const unlessAway = (error: unknown): void => {
  if (!(error instanceof CacheUnavailable)) throw error;
};

const CACHED_MS = 5_000;
const CACHED_ENTRIES_MAX = 10_000;

/** A cache of values of one kind, each with the epoch that was read before the value was loaded. */
export interface EpochCache<T> {
  get(key: string, epoch: string | undefined): T | undefined;
  /** `tookMs` is the time since the loading of the value began. */
  put(key: string, epoch: string | undefined, value: T, tookMs?: number): void;
  /** Returns the cached value, or else the result of `load`. */
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

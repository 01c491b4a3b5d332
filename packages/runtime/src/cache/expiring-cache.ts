/**
 * Values that a process caches for a while and may lose at any time. They are kept in two generations. A used entry
 * moves to the recent generation. When that one is full or has reached the maximum age, it becomes the older one, and
 * the entries of the previous older one are removed. Expired entries therefore take no memory for long, and no turn of
 * the event loop walks over all entries. Time is that of the monotonic clock.
 */
import type { Clock } from '../ports.ts';

export type ExpiringCacheOptions = {
  /** Up to twice as many entries may be kept. */
  readonly entriesMax: number;
  readonly ttlMs: number;
  /** The minimum time for which `wasSet` returns true after an entry was set; `ttlMs` by default. */
  readonly knownMs?: number;
};

export interface ExpiringCache<Key, Value> {
  get(key: Key): Value | undefined;
  /** Sets an entry. One that should live longer than `ttlMs` may be removed before its end. */
  set(key: Key, value: Value, ttlMs?: number): void;
  /** Returns true also for an entry that has expired but is not removed yet. */
  wasSet(key: Key): boolean;
  delete(key: Key): void;
  clear(): void;
}

export function expiringCache<Key, Value>(
  clock: Pick<Clock, 'monotonicMs'>,
  { entriesMax, ttlMs: usualMs, knownMs = usualMs }: ExpiringCacheOptions,
): ExpiringCache<Key, Value> {
  type Entry = { readonly value: Value; readonly endsMs: number };
  let recent = new Map<Key, Entry>();
  let older = new Map<Key, Entry>();
  let turnedMs = clock.monotonicMs();
  const put = (key: Key, entry: Entry, nowMs: number): void => {
    if (recent.size >= entriesMax || nowMs - turnedMs >= knownMs) {
      // Nothing was set for so long that the entries of both generations have expired.
      older = nowMs - turnedMs >= 2 * knownMs ? new Map() : recent;
      recent = new Map();
      turnedMs = nowMs;
    }
    recent.set(key, entry);
  };
  return {
    get: (key) => {
      const nowMs = clock.monotonicMs();
      const entry = recent.get(key);
      if (entry !== undefined) return entry.endsMs > nowMs ? entry.value : undefined;
      const unused = older.get(key);
      if (unused === undefined || unused.endsMs <= nowMs) return undefined;
      put(key, unused, nowMs);
      return unused.value;
    },
    set: (key, value, ttlMs = usualMs) => {
      const nowMs = clock.monotonicMs();
      put(key, { value, endsMs: nowMs + ttlMs }, nowMs);
    },
    wasSet: (key) => recent.has(key) || older.has(key),
    delete: (key) => {
      recent.delete(key);
      older.delete(key);
    },
    clear: () => {
      recent = new Map();
      older = new Map();
    },
  };
}

export interface LoadingCache<Key, Value> {
  /** Returns the cached value, or calls `load`. Concurrent callers wait for the same load. Failures are not cached. */
  get(key: Key, load: () => Promise<Value>): Promise<Value>;
  delete(key: Key): void;
}

/** `keeps` decides which values are cached; all by default. */
export function loadingCache<Key, Value>(
  clock: Pick<Clock, 'monotonicMs'>,
  options: ExpiringCacheOptions & { readonly keeps?: (value: Value) => boolean },
): LoadingCache<Key, Value> {
  const { keeps = () => true } = options;
  const kept = expiringCache<Key, Promise<Value>>(clock, options);
  return {
    get: (key, load) => {
      const known = kept.get(key);
      if (known !== undefined) return known;
      const loading = load();
      const forget = (): void => {
        if (kept.get(key) === loading) kept.delete(key);
      };
      kept.set(key, loading);
      loading.then((value) => {
        if (!keeps(value)) forget();
      }, forget);
      return loading;
    },
    delete: (key) => kept.delete(key),
  };
}

/**
 * Values that a process keeps for a while and may lose at any time. The library decides which ones go
 * when there are too many; when one ends is measured by the monotonic clock, which the library's own
 * `maxAge` does not know.
 */
import QuickLRU from 'quick-lru';
import type { Clock } from './ports.ts';

export type ExpiringCacheOptions = {
  /** The library holds up to twice as many. */
  readonly entriesMax: number;
  readonly ttlMs: number;
};

export interface ExpiringCache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value, ttlMs?: number): void;
  /** True also for an entry that has ended, until another takes its room. */
  wasSet(key: Key): boolean;
  delete(key: Key): void;
  clear(): void;
}

export function expiringCache<Key, Value>(
  clock: Pick<Clock, 'monotonicMs'>,
  options: ExpiringCacheOptions,
): ExpiringCache<Key, Value> {
  type Entry = { readonly value: Value; readonly endsMs: number };
  const entries = new QuickLRU<Key, Entry>({ maxSize: options.entriesMax });
  return {
    get: (key) => {
      const entry = entries.get(key);
      return entry !== undefined && entry.endsMs > clock.monotonicMs() ? entry.value : undefined;
    },
    set: (key, value, ttlMs = options.ttlMs) => {
      entries.set(key, { value, endsMs: clock.monotonicMs() + ttlMs });
    },
    wasSet: (key) => entries.has(key),
    delete: (key) => {
      entries.delete(key);
    },
    clear: () => entries.clear(),
  };
}

export interface LoadingCache<Key, Value> {
  /** What is kept, else what `load` brings; who asks meanwhile waits for the same. Failures are not kept. */
  get(key: Key, load: () => Promise<Value>): Promise<Value>;
  delete(key: Key): void;
}

/** `keeps` decides which values are cached; all of them by default. */
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

import { type Cache, CacheUnavailable, type Clock } from '../ports.ts';

/**
 * The maximum number of entries. If there are more, the oldest are dropped, since a cache may come back empty at any
 * time.
 */
const ENTRIES_MAX = 500_000;
/**
 * The share of entries that is dropped at once, 1 %. A map finds its oldest entry by walking over all that were deleted
 * before it, which takes up to a millisecond.
 */
const DROPPED_AT_ONCE = 0.01;
/**
 * After this many writes, and at least half as many as there are entries, one pass removes expired entries. So they
 * take little memory, and each write costs about two steps of a pass.
 */
const WRITES_PER_SWEEP_MIN = 1_000;

type Entry = { readonly value: string; readonly endsMs: number };
type Listener = (message: string) => void;

/**
 * The shared cache of a deployment that is one process. It is a map whose entries expire. A token bucket is an entry
 * that expires when the bucket is full again.
 */
export function inProcessCache(clock: Clock, entriesMax: number = ENTRIES_MAX): Cache {
  const entries = new Map<string, Entry>();
  const channels = inProcessChannels();
  let writes = 0;
  let closed = false;

  const open = (): void => {
    if (closed) throw new CacheUnavailable('The cache was closed.');
  };
  const live = (key: string): Entry | undefined => {
    open();
    const entry = entries.get(key);
    if (entry === undefined || entry.endsMs > clock.monotonicMs()) return entry;
    entries.delete(key);
    return undefined;
  };
  const write = (key: string, value: string, ttlMs: number | undefined): void => {
    open();
    const nowMs = clock.monotonicMs();
    entries.delete(key); // Deleted first, so that the order of the map is the order of the writes.
    entries.set(key, { value, endsMs: ttlMs === undefined ? Infinity : nowMs + ttlMs });
    writes = (writes + 1) % Math.ceil(WRITES_PER_SWEEP_MIN + entries.size / 2);
    if (writes === 0) dropEnded(entries, nowMs);
    if (entries.size > entriesMax) dropOldest(entries, Math.ceil(entriesMax * DROPPED_AT_ONCE));
  };

  return {
    mode: 'in_process',
    get: async (key) => live(key)?.value,
    getMany: async (keys) => keys.map((key) => live(key)?.value),
    set: async (key, value, ttlMs) => write(key, value, ttlMs),
    setMany: async (all) => {
      for (const { key, value, ttlMs } of all) write(key, value, ttlMs);
    },
    setIfAbsent: async (key, value, ttlMs) => {
      if (live(key) !== undefined) return false;
      write(key, value, ttlMs);
      return true;
    },
    take: async (key) => {
      const value = live(key)?.value;
      entries.delete(key);
      return value;
    },
    delete: async (key) => {
      open();
      entries.delete(key);
    },
    increment: async (key, by, ttlMs) => {
      const before = live(key);
      if (before === undefined && by < 0) return { count: 0, remainingMs: ttlMs };
      const nowMs = clock.monotonicMs();
      const count = Number(before?.value ?? 0) + by;
      const remainingMs = before === undefined ? ttlMs : before.endsMs - nowMs;
      write(key, String(count), remainingMs);
      return { count, remainingMs };
    },
    takeToken: async (key, { capacity, refillMs }) => {
      const nowMs = clock.monotonicMs();
      const fullInMs = (live(key)?.endsMs ?? nowMs) - nowMs + refillMs;
      if (fullInMs > capacity * refillMs) return false;
      write(key, '', fullInMs);
      return true;
    },
    raise: async (key, value, ttlMs) => {
      const before = BigInt(live(key)?.value ?? 0);
      write(key, String(before > BigInt(value) ? before : value), ttlMs);
    },
    publish: async (channel, message) => {
      open();
      channels.publish(channel, message);
    },
    subscribe: async (channel, listener) => {
      open();
      const leave = channels.subscribe(channel, listener);
      return async () => leave();
    },
    distrust: async () => {},
    ping: async () => open(),
    close: async () => {
      closed = true;
      entries.clear();
      channels.clear();
    },
  };
}

function inProcessChannels() {
  const listeners = new Map<string, Set<Listener>>();
  return {
    publish: (channel: string, message: string): void => {
      for (const listener of [...(listeners.get(channel) ?? [])]) listener(message);
    },
    subscribe: (channel: string, listener: Listener): (() => void) => {
      const all = listeners.get(channel) ?? new Set();
      // Wraps the function, because the same function may subscribe twice, and each subscription ends independently.
      const own: Listener = (message) => listener(message);
      listeners.set(channel, all.add(own));
      return () => {
        all.delete(own);
        if (all.size === 0) listeners.delete(channel);
      };
    },
    clear: (): void => listeners.clear(),
  };
}

function dropEnded(entries: Map<string, Entry>, nowMs: number): void {
  for (const [key, entry] of entries) if (entry.endsMs <= nowMs) entries.delete(key);
}

function dropOldest(entries: Map<string, Entry>, count: number): void {
  let left = count;
  for (const key of entries.keys()) {
    entries.delete(key);
    left -= 1;
    if (left === 0) return;
  }
}

import { Outage } from './outage.ts';

/** Time as a port: deciders get a `Date`, loops sleep through it, and tests advance it. */
export interface Clock {
  now(): Date;
  /** Milliseconds of a clock that never goes back. For durations only. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once (without throwing) when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once after `ms`. Returns a function that cancels it. A wait that is usually cancelled costs little. */
  after(ms: number, callback: () => void): () => void;
}

export interface Random {
  bytes(length: number): Buffer;
}

export interface Ids {
  /** A UUIDv7 in lower case. */
  next(): string;
}

/** Log only fields that are known to be safe: never a secret, a body, an address or a whole error. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

/**
 * The shared cache: Redis, or a map in the process. It may come back empty at any time, so nothing may be stored only
 * here. Every call either answers within a second or throws {@link CacheUnavailable}, including reads while the cache
 * refuses writes.
 */
export interface Cache {
  readonly mode: 'redis' | 'in_process';
  get(key: string): Promise<string | undefined>;
  getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  set(key: string, value: string, ttlMs?: number): Promise<void>;
  setMany(entries: readonly { key: string; value: string; ttlMs?: number }[]): Promise<void>;
  /** Returns true when this call created the key. */
  setIfAbsent(key: string, value: string, ttlMs?: number): Promise<boolean>;
  /** Reads and removes in one step. Only one caller gets the value. */
  take(key: string): Promise<string | undefined>;
  delete(key: string): Promise<void>;
  /**
   * Adds to a counter that lives `ttlMs` from its first increment, and returns the new count. Subtracting from a
   * missing counter leaves it missing and returns 0.
   */
  increment(
    key: string,
    by: number,
    ttlMs: number,
  ): Promise<{ count: number; remainingMs: number }>;
  /** Takes one token. Returns false if there is none, and takes nothing. A bucket that was never used is full. */
  takeToken(key: string, bucket: TokenBucket): Promise<boolean>;
  /** Sets a whole number of 0 or more unless a higher one is stored. In either case it lives `ttlMs` from this call. */
  raise(key: string, value: bigint | number, ttlMs: number): Promise<void>;
  /** Delivers at most once, to all subscribers of all processes, including this one. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * The subscription survives outages, even if it begins in one. `gap` is called when messages may be missed, and when
   * they arrive again. Throws only after the cache was closed.
   */
  subscribe(
    channel: string,
    listener: (message: string) => void,
    gap?: Gap,
  ): Promise<() => Promise<void>>;
  /**
   * Makes every process discard its copies of cached values, over a channel that does not use the cache. A process that
   * could not write a value on which others rely calls it before it answers. It resolves after the others were
   * notified, and throws CacheUnavailable when they cannot be.
   */
  distrust(): Promise<void>;
  /** Writes a probe. A cache that only reads counts as unavailable. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A channel from each process to all others that does not use the cache. */
export interface CacheAlarm {
  /** Resolves after the alarm was sent to all processes. Throws an Outage when it cannot be sent. */
  raise(): Promise<void>;
  /** The listener is also called when alarms may have been missed. Returns the function that removes it. */
  onRaised(listener: () => void): () => void;
}

export type TokenBucket = {
  /** The number of tokens of a full bucket. */
  readonly capacity: number;
  /** One token is added per this many milliseconds. */
  readonly refillMs: number;
};

/** Each loss is reported once, and each recovery after it once. */
export type Gap = {
  lost(): void;
  healed(): void;
};

export class CacheUnavailable extends Outage {
  override readonly name: string = 'CacheUnavailable';
}

/** The cache still answers reads. They are not used, because other processes may not have been able to write. */
export class CacheRefusesWrites extends CacheUnavailable {
  override readonly name = 'CacheRefusesWrites';
}

/**
 * A loop: projection, relay, consumer, dispatcher, sweeper. Each iteration records a tick, including idle and failed
 * ones. A loop whose tick is older than 15 s makes the process not ready.
 */
export interface LoopWatch {
  tick(): void;
  /** Reports that the loop runs but makes no progress (a reason), or is healthy again (undefined). */
  degraded(reason: string | undefined): void;
  stop(): void;
}
export interface Loops {
  watch(name: string): LoopWatch;
  /** `lastTickMs` is monotonic time of the clock. */
  state(): readonly { name: string; lastTickMs: number; degraded: string | undefined }[];
}

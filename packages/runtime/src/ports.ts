import { Outage } from './outage.ts';

/** Time as a port: deciders get a `Date`, loops sleep through it, and tests move it. */
export interface Clock {
  now(): Date;
  /** Milliseconds of a clock that never goes back; for durations only. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once (without throwing) when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once after `ms` unless cancelled by what it answers: a wait that is mostly cut short costs little. */
  after(ms: number, callback: () => void): () => void;
}

export interface Random {
  bytes(length: number): Buffer;
}

export interface Ids {
  /** UUIDv7, lower case. */
  next(): string;
}

/** Fields are an allow-list in spirit: never a secret, a body, an address or a whole error. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

/**
 * The shared cache: Redis, or a map in the process. It may come back empty at any time, so nothing
 * stands only here. Every call either answers within a second or throws {@link CacheUnavailable}, reads
 * included while the cache refuses writes.
 */
export interface Cache {
  readonly mode: 'redis' | 'in_process';
  get(key: string): Promise<string | undefined>;
  getMany(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  set(key: string, value: string, ttlMs?: number): Promise<void>;
  setMany(entries: readonly { key: string; value: string; ttlMs?: number }[]): Promise<void>;
  /** True when this call made the key. */
  setIfAbsent(key: string, value: string, ttlMs?: number): Promise<boolean>;
  /** Reads and removes in one step: one winner. */
  take(key: string): Promise<string | undefined>;
  delete(key: string): Promise<void>;
  /**
   * Adds to a counter that lives `ttlMs` from its first increment; answers the new count. From one that is
   * not there nothing can be taken: it stays so, and the answer is 0.
   */
  increment(
    key: string,
    by: number,
    ttlMs: number,
  ): Promise<{ count: number; remainingMs: number }>;
  /** Takes one token; false, and nothing taken, where there is none. A bucket never asked for is full. */
  takeToken(key: string, bucket: TokenBucket): Promise<boolean>;
  /** Sets a whole number of 0 or more unless a higher one is there; lives `ttlMs` from its last call either way. */
  raise(key: string, value: bigint | number, ttlMs: number): Promise<void>;
  /** At most once, to all subscribers of all processes, this one too. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * The subscription survives outages, also when it begins in one; `gap` is called when messages may be
   * missed, and when they arrive again. Throws only once the cache is closed.
   */
  subscribe(
    channel: string,
    listener: (message: string) => void,
    gap?: Gap,
  ): Promise<() => Promise<void>>;
  /**
   * Makes every process discard its copies of cached values, over a channel that does not use the cache. A
   * process that could not write a value on which others rely calls it before it answers. It resolves once
   * the others were notified, and throws CacheUnavailable when they cannot be.
   */
  distrust(): Promise<void>;
  /** Writes a probe: a cache that only reads counts as unavailable. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A way from each process to all others that does not lead through the cache. */
export interface CacheAlarm {
  /** Resolves once the alarm was sent to all processes; throws an Outage when it cannot be sent. */
  raise(): Promise<void>;
  /** The listener is also called when alarms may have been missed. Returns the function that ends it. */
  onRaised(listener: () => void): () => void;
}

export type TokenBucket = {
  /** Tokens of a full one. */
  readonly capacity: number;
  /** One comes back each so many milliseconds. */
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

/** The cache still answers reads, which counts for nothing: others may not have been able to write. */
export class CacheRefusesWrites extends CacheUnavailable {
  override readonly name = 'CacheRefusesWrites';
}

/**
 * A thing that turns: projection, relay, consumer, dispatcher, sweeper. Each turn stamps a tick, idle
 * and failed ones too; a loop whose tick is older than 15 s makes the process not ready.
 */
export interface LoopWatch {
  tick(): void;
  /** Turning but not getting on (a reason), or well again (undefined). */
  degraded(reason: string | undefined): void;
  stop(): void;
}
export interface Loops {
  watch(name: string): LoopWatch;
  /** `lastTickMs` is monotonic time of the clock. */
  state(): readonly { name: string; lastTickMs: number; degraded: string | undefined }[];
}

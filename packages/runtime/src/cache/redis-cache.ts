/**
 * The shared cache of a deployment of many processes: Redis. It uses two connections, because one that subscribes may
 * send no other commands. While the server is unavailable or refuses writes every call fails at once, and only
 * subscriptions are kept for later.
 */
import {
  type Cache,
  type CacheAlarm,
  CacheUnavailable,
  type Clock,
  type Logger,
} from '../ports.ts';
import { redisConnection } from './redis-cache-connection.ts';
import { redisListening } from './redis-cache-listening.ts';

/** The interval of heartbeats. A silent server is detected after this plus a call's own limit. */
const HEARTBEAT_MS = 1_000;
/** The key that all processes write with each heartbeat. */
export const CACHE_PROBE = 'cache:probe';
const PROBE_MS = 10_000;

export type RedisCacheOptions = {
  readonly url: string;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  /** The prefix of all keys and channels, so that several deployments may share one server; empty by default. */
  readonly keyPrefix?: string;
  /** How `distrust` reaches other processes. Without it they cannot be notified. */
  readonly alarm?: CacheAlarm;
  /** Called at each change and once at the start: true while both connections work. */
  readonly onState?: (isUp: boolean) => void;
};

export function redisCache(options: RedisCacheOptions): Cache {
  const { alarm, keyPrefix = '' } = options;
  const named = (key: string): string => keyPrefix + key;
  const { commands, listening, closed } = connections(options, named);
  const { call } = commands;
  let unwatch: (() => void) | undefined;
  return {
    mode: 'redis',
    get: async (key) => found(await call((redis) => redis.get(named(key)))),
    getMany: async (keys) => {
      if (keys.length === 0) return [];
      return (await call((redis) => redis.mget(keys.map(named)))).map(found);
    },
    set: async (key, value, ttlMs) => {
      await call((redis) => redis.call('SET', named(key), value, ...living(ttlMs)));
    },
    setMany: async (entries) => {
      if (entries.length === 0) return;
      await call(async (redis) => {
        const pipeline = redis.pipeline();
        for (const { key, value, ttlMs } of entries) {
          pipeline.call('SET', named(key), value, ...living(ttlMs));
        }
        const answers = await pipeline.exec();
        if (answers === null) throw new Error('lost');
        for (const [error] of answers) if (error !== null) throw error;
      });
    },
    setIfAbsent: async (key, value, ttlMs) => {
      const made = await call((redis) =>
        redis.call('SET', named(key), value, ...living(ttlMs), 'NX'),
      );
      return made !== null;
    },
    take: async (key) => found(await call((redis) => redis.getdel(named(key)))),
    delete: async (key) => {
      await call((redis) => redis.del(named(key)));
    },
    increment: async (key, by, ttlMs) => {
      const answer = await call((redis) =>
        redis.eval(INCREMENT, 1, named(key), by, wholeMs(ttlMs)),
      );
      const [count, remainingMs] = answer as [number, number];
      return { count, remainingMs };
    },
    takeToken: async (key, { capacity, refillMs }) => {
      const taken = await call((redis) =>
        redis.eval(TAKE_TOKEN, 1, named(key), wholeMs(refillMs), wholeMs(capacity * refillMs)),
      );
      return taken === 1;
    },
    raise: async (key, value, ttlMs) => {
      await call((redis) => redis.eval(RAISE, 1, named(key), String(value), wholeMs(ttlMs)));
    },
    publish: async (channel, message) => {
      await call((redis) => redis.publish(named(channel), message));
    },
    subscribe: async (channel, listener, gap) => {
      if (closed.signal.aborted) throw new CacheUnavailable('The cache was closed.');
      unwatch ??= alarm?.onRaised(() => listening.doubt());
      return listening.subscribe(channel, listener, gap);
    },
    distrust: async () => {
      if (alarm === undefined) throw new CacheUnavailable('Other processes cannot be told.');
      await alarm.raise().catch(() => {
        throw new CacheUnavailable('Other processes could not be told.');
      });
    },
    ping: commands.probe,
    close: async () => {
      unwatch?.();
      closed.abort();
      commands.close();
      listening.close();
    },
  };
}

/** Both connections share one state: while one cannot be used, neither is used. */
function connections(options: RedisCacheOptions, named: (key: string) => string) {
  const { url, clock } = options;
  const closed = new AbortController();
  const tell = stateTeller(options, () =>
    closed.signal.aborted ? undefined : commands.isReady && listening.isHearing,
  );
  const commands = redisConnection({
    url,
    probe: (redis) => redis.set(named(CACHE_PROBE), '1', 'PX', PROBE_MS),
    onReady: () => {
      listening.resume();
      tell();
    },
    // Other processes may be unable to write too, so what was received so far may be incomplete.
    onGone: () => {
      listening.doubt();
      tell();
    },
    onError: tell.failed,
  });
  const isUsable = (): boolean => commands.isReady;
  const listening = redisListening({
    url,
    named,
    isUsable,
    onChange: tell,
    onError: tell.failed,
  });
  const beat = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      await clock.sleep(HEARTBEAT_MS, closed.signal);
      if (closed.signal.aborted) return;
      await Promise.allSettled([commands.probe(), listening.probe()]);
      tell();
    }
  };
  void beat();
  return { commands, listening, closed };
}

/** A counter expires a fixed time after its first increment. A counter that has lost its expiry gets a new one. */
const INCREMENT = `
if tonumber(ARGV[1]) < 0 and redis.call('EXISTS', KEYS[1]) == 0 then
  return {0, tonumber(ARGV[2])}
end
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return {count, left}`;

/** The key expires when the bucket is full again, so the server's own clock fills the bucket. */
const TAKE_TOKEN = `
local full_in = math.max(0, redis.call('PTTL', KEYS[1])) + tonumber(ARGV[1])
if full_in > tonumber(ARGV[2]) then
  return 0
end
redis.call('SET', KEYS[1], '', 'PX', full_in)
return 1`;

/** Numbers are compared as text, because Lua's are exact only up to 2^53. */
const RAISE = `
local held = redis.call('GET', KEYS[1])
if held and (#held > #ARGV[1] or (#held == #ARGV[1] and held > ARGV[1])) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1`;

const found = (value: string | null): string | undefined => value ?? undefined;

const wholeMs = (ms: number): number => Math.max(1, Math.ceil(ms));
const living = (ttlMs: number | undefined): [] | ['PX', number] =>
  ttlMs === undefined ? [] : ['PX', wholeMs(ttlMs)];

/** Logs only changes of the state, so that an outage is two lines however long it lasts. */
function stateTeller({ log, onState }: RedisCacheOptions, isUp: () => boolean | undefined) {
  let told: boolean | undefined;
  let code: string | undefined;
  const tell = (): void => {
    const up = isUp();
    if (up === undefined || up === told || (told === undefined && !up && code === undefined))
      return;
    told = up;
    onState?.(up);
    if (up) log.info({ mode: 'redis' }, 'the cache answers');
    else log.warn({ code }, 'the cache is away');
    code = undefined;
  };
  const failed = (failure: string): void => {
    code = failure;
    tell();
  };
  return Object.assign(tell, { failed });
}

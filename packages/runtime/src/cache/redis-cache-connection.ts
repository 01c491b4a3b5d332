/**
 * One connection to Redis. It always reconnects. A call on it is answered within a second or fails, and a server that
 * accepts without answering counts as unavailable.
 */
import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';
import { CacheRefusesWrites, CacheUnavailable } from '../ports.ts';

/** The time limit of a call, including the wait for the very first connection. */
const CALL_MS_MAX = 900;
/** The time limit from the accepted socket to a server that is ready to serve. */
const HANDSHAKE_MS_MAX = 1_000;
const CONNECT_MS_MAX = 1_000;
const RETRY_MS_MIN = 25;
const RETRY_MS_MAX = 1_000;
/** The time after which an abandoned socket is destroyed. */
const DISCONNECT_MS_MAX = 100;
/** The server reads but does not write: it is full, demoted, without its replicas, or unable to save. */
const REFUSES_WRITES = /(?:^|[\s-])(READONLY|OOM|NOREPLICAS|MISCONF)\b/;

export type RedisConnection = {
  readonly isReady: boolean;
  /** Throws CacheUnavailable for every failure, and nothing else. */
  call<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
  /**
   * Sends the probe, to detect a server that is silent or refuses writes, and one that accepts writes again. Throws
   * CacheUnavailable.
   */
  probe(): Promise<void>;
  close(): void;
};

export type RedisConnectionDependencies = {
  readonly url: string;
  /** A write, on a connection that may write. */
  readonly probe: (redis: Redis) => Promise<unknown>;
  readonly onMessage?: (channel: string, message: string) => void;
  /** Called each time that the server becomes usable, and each time that it becomes unusable. */
  readonly onReady: () => void;
  readonly onGone: () => void;
  /** A code such as `ECONNREFUSED`, never a message, because a message may quote what was sent. */
  readonly onError: (code: string) => void;
};

export function redisConnection(needs: RedisConnectionDependencies): RedisConnection {
  const redis = connect(needs.url);
  const state = { ready: false, refuses: false, givenUp: false, closed: false };
  let handshake: NodeJS.Timeout | undefined;
  const firstTry = Promise.withResolvers<void>();

  const giveUp = (): void => {
    gone();
    if (state.closed || state.givenUp) return;
    if (redis.status !== 'ready' && redis.status !== 'connect') return;
    state.givenUp = true;
    redis.disconnect(true);
  };
  const gone = (): void => {
    clearTimeout(handshake);
    firstTry.resolve();
    if (!state.ready) return;
    state.ready = false;
    needs.onGone();
  };
  const refuses = (code: string): void => {
    if (state.refuses) return;
    state.refuses = true;
    needs.onError(code);
    if (state.ready) needs.onGone();
  };
  const takesWrites = (): void => {
    if (!state.refuses) return;
    state.refuses = false;
    if (state.ready) needs.onReady();
  };
  redis.on('connect', () => {
    handshake = setTimeout(giveUp, HANDSHAKE_MS_MAX);
  });
  redis.on('ready', () => {
    clearTimeout(handshake);
    firstTry.resolve();
    if (state.closed) return;
    state.ready = true;
    needs.onReady();
  });
  redis.on('close', () => {
    state.givenUp = false;
    gone();
  });
  redis.on('error', (error) => needs.onError(codeOf(error)));
  const { onMessage } = needs;
  if (onMessage !== undefined) redis.on('message', onMessage);

  /** Returns the result. Errors of the server are classified. */
  const answerTo = async <T>(work: (redis: Redis) => Promise<T>): Promise<T> => {
    try {
      return await work(redis);
    } catch (error) {
      const code = error instanceof Error ? REFUSES_WRITES.exec(error.message)?.[1] : undefined;
      if (code === undefined) throw error;
      refuses(code);
      throw new CacheRefusesWrites('The cache refuses writes.');
    }
  };
  const send = async <T>(work: (redis: Redis) => Promise<T>): Promise<T> => {
    if (state.ready) return await inTime(answerTo(work), CALL_MS_MAX, giveUp);
    const askedMs = performance.now();
    await inTime(firstTry.promise, CALL_MS_MAX, () => {});
    if (!state.ready) throw new CacheUnavailable('The cache is away.');
    return await inTime(answerTo(work), CALL_MS_MAX - (performance.now() - askedMs), giveUp);
  };
  return {
    get isReady() {
      return state.ready && !state.refuses;
    },
    call: async (work) => {
      if (state.refuses) throw new CacheRefusesWrites('The cache refuses writes.');
      return send(work);
    },
    probe: async () => {
      // The client stops trying if it could not even open a socket.
      if (redis.status === 'end' && !state.closed) await redis.connect().catch(() => {});
      await send(needs.probe);
      takesWrites();
    },
    close: () => {
      state.closed = true;
      gone();
      redis.disconnect();
    },
  };
}

/** The system's error code, or the word that Redis puts before its messages. */
const codeOf = (error: Error & { readonly code?: unknown }): string =>
  typeof error.code === 'string'
    ? error.code
    : (/^[A-Z]+\b/.exec(error.message)?.[0] ?? error.name);

/** The client is loaded when a cache is opened, after the instrumentation. Without a cache it is never loaded. */
const loadClient = (): typeof import('ioredis') => createRequire(import.meta.url)('ioredis');

/** The client queues no commands. A command that cannot be sent now fails at once. */
const connect = (url: string): Redis =>
  new (loadClient().Redis)(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    connectTimeout: CONNECT_MS_MAX,
    disconnectTimeout: DISCONNECT_MS_MAX,
    disableClientInfo: true,
    connectionName: 'cardea',
    retryStrategy: (retries) => {
      const pauseMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(retries, 10));
      return pauseMs * (0.5 + Math.random() / 2);
    },
    // A demoted primary refuses writes. Its name may resolve to the new primary by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });

/**
 * The result, if it arrives in time. A result that arrived while this process was busy is in time, so the failure waits
 * until the sockets were read once more.
 */
function inTime<T>(answer: Promise<T>, waitMs: number, onLate: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const timer = setTimeout(
      () =>
        setImmediate(() => {
          if (settled) return;
          reject(new CacheUnavailable('The cache did not answer in time.'));
          onLate();
        }),
      // The connection may have taken the whole time.
      Math.max(0, waitMs),
    );
    const settle = (): void => {
      settled = true;
      clearTimeout(timer);
    };
    answer.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        const known = error instanceof CacheUnavailable;
        reject(known ? error : new CacheUnavailable('The cache is away.'));
      },
    );
  });
}

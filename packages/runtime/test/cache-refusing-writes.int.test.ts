import {
  needRedis,
  type RedisServer,
  redisSays,
  silentLogger,
  startRedis,
  testAlarm,
  untilTrue,
} from '@cardea/testing';
import { afterEach } from 'vitest';
import { type Cache, redisCache, systemClock } from '../src/index.ts';
import { describeRefusingWrites, type Refusal } from './cache-refusing-writes.ts';

const PASSWORD = 'of this file';
/** No server listens at this port, so a replica of it keeps its data. */
const NOBODY = '1';

needRedis();
let server: RedisServer | undefined;
let caches: Cache[] = [];
afterEach(async () => {
  await Promise.all(caches.map((cache) => cache.close()));
  caches = [];
  await server?.kill();
  server = undefined;
});

const say = async (...words: readonly string[]): Promise<void> => {
  const answer = await redisSays(server?.url ?? '', words);
  if (!/^\+(OK|Background)/.test(answer)) throw new Error(answer);
};

/** What each test does to its own server. */
const WAYS: { readonly [name: string]: Refusal } = {
  OOM: {
    refuse: () => say('CONFIG', 'SET', 'maxmemory', '1'),
    allow: () => say('CONFIG', 'SET', 'maxmemory', '0'),
  },
  READONLY: {
    refuse: () => say('REPLICAOF', '127.0.0.1', NOBODY),
    allow: () => say('REPLICAOF', 'NO', 'ONE'),
  },
  NOREPLICAS: {
    refuse: () => say('CONFIG', 'SET', 'min-replicas-to-write', '1'),
    allow: () => say('CONFIG', 'SET', 'min-replicas-to-write', '0'),
  },
  MISCONF: {
    // A file cannot replace a folder.
    refuse: async () => {
      await say('CONFIG', 'SET', 'dbfilename', '.');
      await say('CONFIG', 'SET', 'save', '3600 1');
      await say('BGSAVE');
      await untilTrue(async () =>
        (await redisSays(server?.url ?? '', ['PING'])).includes('MISCONF'),
      );
    },
    allow: () => say('CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'no'),
  },
};

describeRefusingWrites('Redis', Object.keys(WAYS), async () => {
  server = await startRedis({ password: PASSWORD, args: ['--enable-protected-configs', 'yes'] });
  const { url } = server;
  const alarm = testAlarm();
  return {
    open: () => {
      const cache = redisCache({ url, clock: systemClock, log: silentLogger, alarm });
      caches.push(cache);
      return cache;
    },
    raise: () => void alarm.raise(),
    ways: WAYS,
  };
});

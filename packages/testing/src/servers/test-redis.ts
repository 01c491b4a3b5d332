/**
 * One Redis for one test run: the one that TEST_REDIS_URL names, otherwise a `redis-server` that the run starts. Each
 * test file has its own key prefix.
 */
import { randomBytes } from 'node:crypto';
import { beforeEach, inject } from 'vitest';
import { answers, RedisNotStarted, startRedis } from './redis-server.ts';
import {
  type Missing,
  type Started,
  serverSetup,
  takeVariable,
  withoutServer,
} from './run-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by the global setup of the projects that use real servers. */
    redis: RedisOfRun;
  }
}

/** The information that test files need about the run's server. */
export type RedisOfRun = { readonly url: string } | Missing;

const GIVEN_URL = 'TEST_REDIS_URL';
/** The variable of a server that the runner of several projects shares between them. */
const HANDED_DOWN = 'REDIS_OF_RUN';
const DEFAULT_PORT = 6379;

/** Throws when there is no server and CARDEA_REQUIRE names redis. */
export async function startRedisOfRun(): Promise<Started<RedisOfRun>> {
  const handedDown = takeVariable(HANDED_DOWN);
  const given = takeVariable(GIVEN_URL);
  if (handedDown !== undefined) {
    return { info: JSON.parse(handedDown), stop: async () => undefined };
  }
  if (given !== undefined) {
    const { hostname, port } = new URL(given);
    if (!(await answers(Number(port || DEFAULT_PORT), hostname))) {
      throw new Error(`nothing answers where ${GIVEN_URL} points to`);
    }
    return { info: { url: given }, stop: async () => undefined };
  }
  try {
    const { url, stop } = await startRedis();
    return { info: { url }, stop };
  } catch (error) {
    if (!(error instanceof RedisNotStarted)) throw error;
    return withoutServer('redis', `no Redis: ${error.message}`);
  }
}

/** The environment that makes a child's {@link startRedisOfRun} use this server. */
export const handDownRedis = (info: RedisOfRun) => ({ [HANDED_DOWN]: JSON.stringify(info) });

export const redisSetup = () => serverSetup('redis', startRedisOfRun);

export type TestRedis = { readonly url: string; readonly keyPrefix: string };

/** Call it once, at the top of a file or of a `describe`. Without a server the tests beside it are skipped by name. */
export function testRedis(): TestRedis {
  const server = needRedis();
  return {
    get url() {
      if ('url' in server) return server.url;
      throw new Error(server.missing);
    },
    keyPrefix: `test:${randomBytes(6).toString('hex')}:`,
  };
}

/** Returns what tests need to start and kill their own servers. They are skipped by name without a `redis-server`. */
export function needRedis(): RedisOfRun {
  const server = inject('redis');
  beforeEach((context) => {
    if ('missing' in server) context.skip(server.missing);
  });
  return server;
}

/**
 * How often the cache and the database are queried for a request by a bearer that is known here. The endpoint's own
 * queries are written in the table. Its bearer adds none, whatever kind it is, except for a proof of possession (DPoP),
 * which is compared with earlier ones.
 */
import { randomBytes } from 'node:crypto';
import { deriveKey } from '@cardea/crypto';
import { needRedis, processFixture, type RedisServer, startRedis } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BearerKind, bearerRequests } from './bearer-requests.ts';
import { type MonitoredRedis, monitoredRedis } from './cache-commands.ts';
import { instance } from './instance.ts';
import { countsOf } from './statement-counts.ts';
import { loggedPostgres } from './statement-log.ts';

/** Caches that expire and timers that fire during a play are no part of the request. */
const PLAYS_MAX = 20;
const AGREEING_PLAYS = 2;
const TEST_MS_MAX = 600_000;

type Trips = { readonly cache: number; readonly database: number };

/**
 * The queries of each endpoint itself, including BEGIN and COMMIT. Reading the audit log also queries the positions of
 * the relays.
 */
const EXPECTED: { readonly [request: string]: Trips } = {
  'GET /api/v1/auth/me': { cache: 0, database: 4 },
  'GET /api/v1/admin/users': { cache: 0, database: 3 },
  'GET /api/v1/agent/sessions': { cache: 0, database: 3 },
  'POST /api/v1/fga/check': { cache: 0, database: 0 },
  'GET /api/v1/vault/services': { cache: 0, database: 3 },
  'GET /api/v1/vault/grants': { cache: 0, database: 3 },
  'GET /api/v1/ciba/requests': { cache: 0, database: 3 },
  'GET /api/v1/ciba/requests/{id}': { cache: 0, database: 3 },
  // A page causes no other queries than its endpoint.
  'GET /approve/{id}': { cache: 0, database: 3 },
  'GET /api/v1/webhooks': { cache: 0, database: 2 },
  'GET /api/v1/audit/events': { cache: 1, database: 4 },
};
/** The queries that a bearer of these kinds adds. */
const ADDED: { readonly [kind in BearerKind]?: Trips } = {
  'application, DPoP': { cache: 1, database: 0 },
  'machine, DPoP': { cache: 1, database: 0 },
};
const NONE: Trips = { cache: 0, database: 0 };

needRedis();
const fixture = processFixture();
let redis: RedisServer;
let cache: MonitoredRedis;
let postgres: Awaited<ReturnType<typeof loggedPostgres>>;
beforeAll(async () => {
  redis = await startRedis({ password: randomBytes(8).toString('hex') });
  cache = await monitoredRedis(redis.url);
  postgres = await loggedPostgres();
});
afterAll(async () => {
  cache?.close();
  await redis?.stop();
  await postgres?.stop();
});

/** A request that is refused because of its bearer causes only the bearer's queries. */
const expectedOf = (request: string, kind: BearerKind): Trips => {
  const own = kind === 'RS256' ? NONE : (EXPECTED[request] ?? NONE);
  const added = ADDED[kind] ?? NONE;
  return { cache: own.cache + added.cache, database: own.database + added.database };
};

async function counted(send: () => Promise<void>): Promise<Trips> {
  let commands: readonly string[] = [];
  const logged = await postgres.during(async () => {
    commands = await cache.during(send);
  });
  return { cache: commands.length, database: countsOf(logged, 0).ownShares };
}

it('a known bearer of each kind costs no trip to cache or database at any service, but a DPoP proof one [standards 1]', {
  timeout: TEST_MS_MAX,
}, async () => {
  const JWT_SECRET = randomBytes(32).toString('hex');
  const env = {
    JWT_SECRET,
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    RATE_LIMIT_FACTOR: '1000',
  };
  const cardea = await instance(fixture, env);
  const running = await cardea.start();
  const requests = await bearerRequests(cardea.rest, deriveKey(JWT_SECRET, 'pages/v1'));
  const surprises: string[] = [];
  const lines = ['| Request | Bearer | cache | database | plays |', '|---|---|---|---|---|'];
  for (const { request, kind, send } of requests) {
    const expected = expectedOf(request, kind);
    const isExpected = (play: Trips) =>
      play.cache === expected.cache && play.database === expected.database;
    const plays: Trips[] = [];
    const agrees = () => plays.filter(isExpected).length >= AGREEING_PLAYS;
    await send();
    while (!agrees() && plays.length < PLAYS_MAX) plays.push(await counted(send));
    const least = (key: keyof Trips) => Math.min(...plays.map((play) => play[key]));
    const line = `| ${request} | ${kind} | ${least('cache')} | ${least('database')} | ${plays.length} |`;
    lines.push(line);
    if (!agrees()) surprises.push(line);
  }
  console.log(lines.join('\n'));
  expect(surprises).toEqual([]);
  expect(await running.end('SIGTERM')).toBe(0);
});

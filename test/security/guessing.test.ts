/**
 * Keys are guessed at two whole instances that share a Redis, from client addresses that their proxy names.
 */
import { randomBytes } from 'node:crypto';
import { issueKey } from '@cardea/crypto';
import { services } from '@cardea/standalone';
import {
  needRedis,
  type RedisServer,
  type ServiceFixture,
  serviceFixture,
  startRedis,
  testDatabase,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentsAndKeys, agentsAndKeysOf } from './agents-and-keys.ts';
import { type Person, usersOf } from './users.ts';

needRedis();
const database = testDatabase();
const SITE_FACTOR = 8;
const MISSES_MAX = 60;

/** An endpoint of each service that accepts keys. */
const DOORS = [
  { service: 'identity', path: '/api/v1/admin/users' },
  { service: 'authz', path: '/api/v1/fga/tuples' },
  { service: 'vault', path: '/api/v1/vault/services' },
  { service: 'approval', path: '/api/v1/ciba/token/nothing' },
  { service: 'webhook-dispatcher', path: '/api/v1/webhooks' },
  { service: 'audit-projector', path: '/api/v1/audit/events' },
] as const;

let redis: RedisServer;
let both: readonly ServiceFixture[] = [];
let owner: Person;
let agentsAndKeys: AgentsAndKeys;

beforeAll(async () => {
  redis = await startRedis();
  const env = {
    REDIS_URL: redis.url,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    ARGON2_MEMORY: '8',
    ARGON2_TIME: '1',
    TRUSTED_PROXIES: '127.0.0.1/32',
    RATE_LIMIT_FACTOR: '1',
  };
  const start = () => serviceFixture({ databaseUrl: database.url, definitions: services, env });
  both = [await start(), await start()];
  const { rest } = both[0] as ServiceFixture;
  const users = usersOf(rest);
  owner = await users.signUp('Acme');
  agentsAndKeys = await agentsAndKeysOf(rest, {
    owner,
    member: await users.addUser(owner, ['member']),
  });
});
afterAll(async () => {
  for (const fixture of both) await fixture.stop();
  await redis?.kill();
});

/** Calls the two instances alternately. */
const call = async (number: number, path: string, of: { bearer: string; ip: string }) => {
  const { rest } = both[number % both.length] as ServiceFixture;
  const headers = { 'x-forwarded-for': of.ip };
  const call = { bearer: of.bearer, tenant: owner.tenantId, headers };
  return rest.get(path, call);
};
/** A well-formed key, so that only a lookup shows that it is wrong. */
const guess = () => issueKey('svc', 'live').text;
const count = (statuses: readonly number[], wanted: number) =>
  statuses.filter((status) => status === wanted).length;

describe('S9 whoever guesses keys', () => {
  it.each(DOORS)(
    'has sixty tries a minute from one /64 at both instances of $service together',
    async ({ path }) => {
      const site = DOORS.findIndex((door) => door.path === path) + 1;
      const statuses: number[] = [];
      for (let number = 0; number < 2 * MISSES_MAX; number += 1) {
        const ip = `2001:db8:${site}:1::${number.toString(16)}`;
        const { status, headers } = await call(number, path, { bearer: guess(), ip });
        statuses.push(status);
        if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect([count(statuses, 401), count(statuses, 429)]).toEqual([MISSES_MAX, MISSES_MAX]);
    },
  );

  it('has eight times as many from the /48 around it, and as many at the next service', async () => {
    const statuses: number[] = [];
    for (let number = 0; number < 10 * MISSES_MAX; number += 1) {
      const ip = `2001:db8:aa:${(number % 16).toString(16)}::1`;
      const path = DOORS[number % DOORS.length]?.path ?? '';
      statuses.push((await call(number, path, { bearer: guess(), ip })).status);
    }
    expect(count(statuses, 401)).toBe(SITE_FACTOR * MISSES_MAX);
  });

  it('stops no key that was taken at this instance before, nor any that comes from elsewhere', async () => {
    const { path } = DOORS[0];
    const [here, elsewhere] = ['2001:db8:bb:1::1', '2001:db8:cc:1::1'];
    const read = { bearer: agentsAndKeys.keys.read, ip: here };
    for (const instance of [0, 1]) expect((await call(instance, path, read)).status).toBe(200);
    for (let number = 0; number <= MISSES_MAX + 1; number += 1) {
      await call(number, path, { bearer: guess(), ip: here });
    }
    const fresh = { bearer: agentsAndKeys.keys.write, ip: here };
    for (const instance of [0, 1]) {
      expect((await call(instance, path, read)).status).toBe(200);
      expect(await call(instance, path, fresh)).toMatchObject({
        status: 429,
        code: 'rate_limited',
      });
      const away = await call(instance, path, { ...fresh, ip: elsewhere });
      expect([200, 403]).toContain(away.status);
    }
  });
});

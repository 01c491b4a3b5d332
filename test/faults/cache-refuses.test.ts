/**
 * Two whole instances on one database and one Redis that answers reads and refuses writes, of both instances or of one.
 * What one instance has answered with 200 is in force at the other.
 */
import { randomBytes } from 'node:crypto';
import { CACHE_FAMILIES } from '@cardea/service';
import {
  needRedis,
  processFixture,
  type RedisServer,
  redisSays,
  startRedis,
  type TcpProxy,
  tcpProxy,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Addresses,
  addresses,
  type Company,
  company,
  LIVE,
  REVOKED,
  revokeEach,
  triesOf,
} from './company.ts';
import { type Instance, instance } from './instance.ts';

/** An idle machine takes a second or two. */
const SEEN_MS_MAX = 60_000;
const START_MS_MAX = 400_000;
const TEST_MS_MAX = 600_000;
const SECRET = '/api/v1/vault/services/warehouse/secrets';

needRedis();
const fixture = processFixture();
const database = testDatabase();

let redis: RedisServer;
/** The replica of the other server, which is then made the primary. */
let second: RedisServer;
let way: TcpProxy;
let here: Instance;
let there: Instance;
let at: { readonly here: Addresses; readonly there: Addresses };
let users: Company;

const say = async (server: RedisServer, ...words: readonly string[]): Promise<void> => {
  expect(await redisSays(server.url, words)).toBe('+OK');
};

beforeAll(async () => {
  const password = randomBytes(8).toString('hex');
  const args = ['--masterauth', password];
  [redis, second] = [await startRedis({ password, args }), await startRedis({ password, args })];
  way = await tcpProxy({ port: redis.port });
  const env = {
    DATABASE_URL: database.url,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    ISSUER: 'http://localhost:8080',
    DATABASE_POOL_SIZE: '8',
    RATE_LIMIT_FACTOR: '1000',
  };
  const own = new URL(redis.url);
  own.port = String(way.port);
  here = await instance(fixture, { ...env, REDIS_URL: own.href });
  there = await instance(fixture, { ...env, REDIS_URL: redis.url });
  await here.start();
  await there.start();
  const { tenant } = await here.admin();
  at = { here: addresses(here.rest, tenant), there: addresses(there.rest, tenant) };
  users = await company(here.rest, tenant);
}, START_MS_MAX);
afterAll(async () => {
  await way?.close();
  await redis?.kill();
  await second?.kill();
});

const readiness = async ({ management }: Instance) =>
  (await (await fetch(`${management}/readyz`)).json()) as {
    readonly status: string;
    readonly checks: { readonly [name: string]: { readonly reason?: string } };
  };
const untilWell = () =>
  untilTrue(
    async () => {
      for (const each of [here, there]) {
        if ((await each.rest.get('/health/cache')).status !== 200) return false;
        if ((await readiness(each)).status !== 'ready') return false;
      }
      return true;
    },
    { deadlineMs: SEEN_MS_MAX, what: 'both are well' },
  );

/** Both the instance that made the change and the one that the cache did not notify refuse at once. */
async function expectInForce(fault: () => Promise<void>): Promise<() => Promise<void>> {
  await untilWell();
  const revoked = await revokeEach(users);
  const agent = await users.machine();
  const vended = async (of: Addresses) =>
    (await of.vend(agent)).body.data.fields.password as string;
  for (const each of [at.here, at.there]) {
    expect(await triesOf(each, revoked)).toEqual(LIVE);
    await vended(each);
  }
  await fault();
  const value = randomBytes(8).toString('hex');
  const rotated = await users.admin.put(SECRET, { fields: { password: value } });
  expect([rotated.status, await vended(at.there)]).toEqual([200, value]);
  await revoked.revoke();
  const tries = async () => {
    for (const each of [at.there, at.here]) {
      expect(await triesOf(each, revoked)).toEqual(REVOKED);
      expect(await vended(each)).toBe(value);
    }
  };
  await tries();
  return tries;
}

async function expectTold(word: string, ...all: readonly Instance[]): Promise<void> {
  for (const each of all) {
    await untilTrue(async () => (await each.rest.get('/health/cache')).status === 503, {
      deadlineMs: SEEN_MS_MAX,
      what: 'health says it',
    });
    const said = await untilTrue(
      async () => {
        const { status, checks } = await readiness(each);
        const { reason } = checks['revocations'] ?? {};
        return status === 'degraded' && reason === word ? reason : undefined;
      },
      { deadlineMs: SEEN_MS_MAX, what: 'readiness says it' },
    );
    expect(said).toBe(word);
  }
}

describe('H1 what was answered with 200 is in force on every replica', () => {
  it('H1 while the cache is full and refuses writes', { timeout: TEST_MS_MAX }, async () => {
    const tries = await expectInForce(() => say(redis, 'CONFIG', 'SET', 'maxmemory', '1'));
    await expectTold('the cache refuses writes', here, there);
    await tries();
    await say(redis, 'CONFIG', 'SET', 'maxmemory', '0');
    await untilWell();
    await tries();
  });

  it('H1 while the cache was made a replica', { timeout: TEST_MS_MAX }, async () => {
    await say(second, 'REPLICAOF', '127.0.0.1', String(redis.port));
    await untilTrue(async () => (await redisSays(second.url, ['DBSIZE'])) !== ':0');
    const tries = await expectInForce(async () => {
      await say(second, 'REPLICAOF', 'NO', 'ONE');
      await say(redis, 'REPLICAOF', '127.0.0.1', String(second.port));
    });
    await expectTold('the cache refuses writes', here, there);
    await tries();
    await say(redis, 'REPLICAOF', 'NO', 'ONE');
    await untilWell();
    await tries();
  });

  it('H1 while the instance that changes it is cut off from the cache alone', {
    timeout: TEST_MS_MAX,
  }, async () => {
    const tries = await expectInForce(() => way.shut());
    await expectTold('the cache is away', here);
    await tries();
    expect((await there.rest.get('/health/cache')).status).toBe(200);
    await way.open();
    await untilWell();
    await tries();
  });
});

/** Each key with its remaining lifetime; -1 if it never expires. */
const ALL_KEYS = `local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  all[#all + 1] = redis.call('PTTL', key) .. ' ' .. key
end
return {ok = table.concat(all, string.char(9))}`;

it('H2 every key that the product left in the cache is of a listed family and lives no longer than that says', async () => {
  await untilWell();
  await triesOf(at.there, await revokeEach(users));
  const said = await redisSays(redis.url, ['EVAL', ALL_KEYS, '0']);
  const keys = said.slice(1).split('\t');
  expect(keys.length).toBeGreaterThan(10);
  const families = CACHE_FAMILIES.map(({ pattern, lifeMs }) => ({
    form: new RegExp(`^${pattern.replace('{service}', '*').replaceAll('*', '.*')}$`),
    lifeMs: lifeMs ?? -1,
  }));
  const unlisted = keys.filter((each) => {
    const [left, key = ''] = each.split(' ');
    const lifeMs = families.find(({ form }) => form.test(key))?.lifeMs;
    return lifeMs === undefined || Number(left) > lifeMs || (lifeMs >= 0 && Number(left) === -1);
  });
  expect(unlisted).toEqual([]);
  const ofSessions = keys.filter((each) => each.includes('vault:slot'));
  expect(ofSessions.every((each) => each.includes('vault:slots:'))).toBe(true);
});

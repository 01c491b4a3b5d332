/** The six services as separate processes, on a Redis that dies and returns empty. The short form: `redis.test.ts`. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, startCluster } from '@cardea/cluster';
import {
  needRedis,
  type RedisServer,
  restDriver,
  startRedis,
  testDatabase,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { nginxCommand, startGateway } from '../../scripts/gateway/start.ts';
import { addresses, company, LIVE, REVOKED, revokeEach, triesOf, untilRevoked } from './company.ts';
import { CHEAP_HASHES } from './instance.ts';

const AWAY_MS = 3_000;
/** An idle machine takes a second or two; a process that never retries never recovers. */
const WELL_AGAIN_MS = 60_000;
const START_MS_MAX = 400_000;
const TEST_MS_MAX = 600_000;
const STOP_MS_MAX = 180_000;

needRedis();
const database = testDatabase();
let folder: string | undefined;
let redis: RedisServer | undefined;
let cluster: Cluster | undefined;
beforeEach((context) => {
  if (nginxCommand() === undefined) context.skip('nginx is missing');
});
beforeAll(async () => {
  if (nginxCommand() === undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'cardea-redis-processes-'));
  redis = await startRedis();
  cluster = await startCluster({
    folder,
    temporary: true,
    replicas: 1,
    startGateway,
    postgresPassword: '',
    given: { databaseUrl: database.url, redisUrl: redis.url, kafkaBrokers: '' },
    env: {
      JWT_SECRET: randomBytes(32).toString('hex'),
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      CARDEA_DATA: folder,
      ...CHEAP_HASHES,
    },
  });
}, START_MS_MAX);
afterAll(async () => {
  await cluster?.stop();
  await redis?.kill();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}, STOP_MS_MAX);

it.runIf(testForm.long)(
  'R8 no process of six lets in who was revoked before or while Redis was away, and each is well by itself after',
  {
    timeout: TEST_MS_MAX,
  },
  async () => {
    if (cluster === undefined || redis === undefined) throw new Error('nothing was started');
    const rest = restDriver({ baseUrl: cluster.addresses().gateway });
    const account = { email: 'first@example.com', password: 'a password for the tests' };
    const signedUp = await rest.post('/api/v1/auth/signup', { ...account, company_name: 'First' });
    const tenant: string = signedUp.body.tenant_id;
    const users = await company(rest, tenant, account);
    const at = addresses(rest, tenant);
    const [before, during] = [await revokeEach(users), await revokeEach(users)];
    expect(await triesOf(at, before)).toEqual(LIVE);
    expect(await triesOf(at, during)).toEqual(LIVE);
    await before.revoke();
    await untilRevoked(at, before);

    const { port } = redis;
    await redis.kill();
    await during.revoke();
    const backMs = performance.now() + AWAY_MS;
    const key = await users.apiKey();
    do {
      expect(await triesOf(at, before)).toEqual(REVOKED);
      expect(await triesOf(at, during)).toEqual(REVOKED);
      expect((await at.check(key.key, 'ann')).body).toMatchObject({ allowed: true });
      expect((await at.logIn(account.email, account.password)).status).toBe(200);
    } while (performance.now() < backMs);

    redis = await startRedis({ port });
    const well = untilTrue(() => areReady(cluster as Cluster), {
      deadlineMs: WELL_AGAIN_MS,
      what: 'every process is ready again',
    });
    let isWell = false;
    const told = (): void => {
      isWell = true;
    };
    well.then(told, told);
    do {
      expect(await triesOf(at, before)).toEqual(REVOKED);
      expect(await triesOf(at, during)).toEqual(REVOKED);
    } while (!isWell);
    await well;
    expect(await triesOf(at, during)).toEqual(REVOKED);
  },
);

async function areReady({ processes }: Cluster): Promise<boolean> {
  const words = processes.map(async ({ ports }) => {
    const answer = await fetch(`http://127.0.0.1:${ports.management}/readyz`);
    return ((await answer.json()) as { status: string }).status;
  });
  return (await Promise.all(words)).every((word) => word === 'ready');
}

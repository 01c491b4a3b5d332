import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  freePorts,
  needRedis,
  processFixture,
  programOf,
  restDriver,
  SERVICE_FOLDERS,
  startRedis,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const fixture = processFixture();
const database = testDatabase();
needRedis();

const folderOf = (folder: string): string =>
  fileURLToPath(new URL(`../../services/${folder}/`, import.meta.url));
/** The secrets are equal for all instances, because these share a database. */
const SECRETS = {
  JWT_SECRET: randomBytes(32).toString('hex'),
  ENCRYPTION_KEY: randomBytes(32).toString('hex'),
};
/** This server is only used to send mail, and the tests send none. */
const MAIL = { SMTP_URL: 'smtp://user:pw-canary@mail.test:2525' };

const data = mkdtempSync(join(tmpdir(), 'cardea-plaintext-'));
let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
let ports: readonly number[];
beforeAll(async () => {
  redis = await startRedis().catch(() => undefined);
  ports = await freePorts(3);
});
afterAll(async () => {
  await redis?.stop();
  rmSync(data, { recursive: true, force: true });
});

const settings = () => ({
  ENV: 'production',
  HOST: '127.0.0.1',
  ...SECRETS,
  DATABASE_URL: database.url,
  REDIS_URL: redis?.url ?? '',
  PORT: String(ports[0]),
  MANAGEMENT_PORT: String(ports[1]),
  INTERNAL_PORT: String(ports[2]),
  SHUTDOWN_DELAY: '0s',
});
const start = (folder: string, env: { readonly [name: string]: string }) =>
  fixture.start({
    name: folder,
    script: programOf(`${folderOf(folder)}src/main.ts`),
    cwd: folderOf(folder),
    env,
  });
const readiness = async () => {
  const answer = await fetch(`http://127.0.0.1:${ports[1]}/readyz`);
  return { code: answer.status, ...((await answer.json()) as { checks: object; status: string }) };
};
const isReady = () =>
  untilTrue(async () => (await readiness().catch(() => undefined))?.code === 200, {
    what: 'it is ready',
  });

describe('a process whose servers are elsewhere', () => {
  it.each([...Object.values(SERVICE_FOLDERS), 'standalone'])(
    'O4 %s does not start in plaintext where TLS is required',
    async (folder) => {
      const refused = await start(folder, {
        ...settings(),
        ...MAIL,
        DATABASE_URL: 'postgres://u:pw-canary@db-canary/x',
        REDIS_URL: 'redis://:pw-canary@cache-canary',
        KAFKA_BROKERS: 'kafka-canary:9092',
        EVENTSTORE_URL: 'esdb://a:pw-canary@events-canary?tls=false',
        CARDEA_REQUIRE_TLS: 'true',
        CARDEA_ALLOW_PLAINTEXT: 'kafka-canary:9093,mail.test',
        CARDEA_DATA: data,
      });
      expect(await refused.ended).toBe(78);
      const lines = refused.output().trim().split('\n').slice(1);
      expect(lines.map((line) => line.trim().split(' ')[0])).toEqual([
        'DATABASE_URL',
        'REDIS_URL',
        'EVENTSTORE_URL',
        'KAFKA_BROKERS',
      ]);
      expect(lines.every((line) => line.includes('plaintext'))).toBe(true);
      expect(refused.output()).not.toContain('canary');
    },
  );

  it.each([
    ['without a word on TLS', {}],
    [
      'where TLS is required and the server is named',
      { CARDEA_REQUIRE_TLS: 'true', CARDEA_ALLOW_PLAINTEXT: 'mail.test' },
    ],
  ])('O4 starts %s, and warns', async (_, more) => {
    const serving = await start('identity', { ...settings(), ...MAIL, ...more });
    await isReady();
    const warning = /"level":"warn"[^\n]*"servers":\["SMTP_URL mail\.test:2525"\]/;
    expect(serving.output()).toMatch(warning);
    expect(serving.output()).not.toContain('canary');
    expect(await serving.end('SIGTERM')).toBe(0);
  });
});

describe('a process in production without a mail server', () => {
  it('O8 starts, keeps the mail, and says so in log and readiness', async () => {
    const serving = await start('identity', settings());
    await isReady();
    const reason = 'SMTP_URL is not set';
    expect(await readiness()).toMatchObject({
      code: 200,
      status: 'degraded',
      checks: {
        'identity.smtp': { status: 'degraded', reason: expect.stringContaining(reason) },
      },
    });
    expect(serving.output()).toMatch(/"level":"warn"[^\n]*SMTP_URL is not set/);
    const rest = restDriver({ baseUrl: `http://127.0.0.1:${ports[0]}` });
    const signedUp = await rest.post('/api/v1/auth/signup', {
      email: 'ada@example.com',
      password: 'a password for the tests',
      company_name: 'Acme',
    });
    expect(signedUp.status).toBe(201);
    await serving.seen(/mail waits and cannot be sent/);
    expect(await serving.end('SIGTERM')).toBe(0);
  });
});

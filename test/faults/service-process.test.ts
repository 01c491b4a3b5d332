import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  freePorts,
  needRedis,
  processFixture,
  SERVICE_FOLDERS,
  startRedis,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const fixture = processFixture();
const database = testDatabase();
needRedis();

const folderOf = (folder: string): string =>
  fileURLToPath(new URL(`../../services/${folder}/`, import.meta.url));

let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
let ports: readonly number[];
beforeAll(async () => {
  redis = await startRedis().catch(() => undefined);
  ports = await freePorts(3);
});
afterAll(() => redis?.stop());

const settings = () => ({
  ENV: 'development',
  HOST: '127.0.0.1',
  JWT_SECRET: randomBytes(32).toString('hex'),
  ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  DATABASE_URL: database.url,
  REDIS_URL: redis?.url ?? '',
  PORT: String(ports[0]),
  MANAGEMENT_PORT: String(ports[1]),
  INTERNAL_PORT: String(ports[2]),
  SHUTDOWN_DELAY: '0s',
});

const start = (folder: string, args: readonly string[], env: { [name: string]: string }) =>
  fixture.start({ name: folder, script: 'src/main.ts', cwd: folderOf(folder), args, env });

const probe = async (path: string) => {
  const answer = await fetch(`http://127.0.0.1:${ports[1]}${path}`);
  return { status: answer.status, text: await answer.text() };
};

describe('a service as a process of its own', () => {
  it.each(['elevenchars', '123qweasdzxc'])(
    'R25 identity does not start in production with a first admin’s password such as "%s"',
    async (password) => {
      const admin = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: password };
      const refused = await start('identity', [], { ...settings(), ENV: 'production', ...admin });
      expect(await refused.ended).toBe(78);
      expect(refused.output()).toContain('ADMIN_PASSWORD is too weak for production');
      expect(refused.output()).toContain('none of the 10,000 most common passwords');
      expect(refused.output()).not.toContain(password);
    },
  );

  it.each(Object.values(SERVICE_FOLDERS))(
    'R25 %s names every setting that is missing',
    async (folder) => {
      const refused = await start(folder, [], {});
      expect(await refused.ended).toBe(78);
      for (const name of ['DATABASE_URL', 'REDIS_URL', 'JWT_SECRET', 'ENCRYPTION_KEY']) {
        expect(refused.output()).toContain(name);
      }
      expect(refused.output().trim().split('\n')).toHaveLength(5);
    },
  );

  it('R25 refuses a word that it does not know', async () => {
    const refused = await start('authz', ['turn'], settings());
    expect(await refused.ended).toBe(2);
    expect(refused.output()).toContain('serve|migrate');
  });

  it('R25 serves once its migrations are applied, and applies them when it is told to', async () => {
    const env = settings();
    await withOwner((client) => client.query('DROP SCHEMA authz CASCADE'));
    const serving = await start('authz', [], env);
    const startup = async () => (await probe('/startupz')).text.includes('authz/');
    await untilTrue(startup, { what: 'it says which migration is missing' });
    expect((await probe('/startupz')).status).toBe(503);
    expect((await probe('/readyz')).status).toBe(503);
    expect((await probe('/livez')).status).toBe(200);

    const migrating = await start('authz', ['migrate'], env);
    expect(await migrating.ended, migrating.output()).toBe(0);
    await untilTrue(async () => (await probe('/readyz')).status === 200, { what: 'it is ready' });
    expect((await probe('/startupz')).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${ports[0]}/health`)).status).toBe(200);
    // Other processes recognize by these names that this process is not one of their replicas.
    const sessions = await withOwner((client) =>
      client.query<{ name: string; count: number }>(
        `SELECT application_name AS name, count(*)::integer FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'cardea%' GROUP BY 1`,
      ),
    );
    const counts = new Map(sessions.rows.map(({ name, count }) => [name, count]));
    // One session for locks and all notices, and those that read and append.
    expect(counts.get('cardea-leader authz')).toBe(1);
    expect(counts.get('cardea event store authz')).toBeGreaterThan(0);
    expect(counts.get('cardea event store authz')).toBeLessThanOrEqual(3);
    expect([...counts.keys()]).not.toContain('cardea event store');
    expect([...counts.keys()]).not.toContain('cardea-leader');
    expect(await serving.end('SIGTERM'), serving.output()).toBe(0);
  });
});

async function withOwner<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

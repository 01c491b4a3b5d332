/** The commands that create and print logins of single services, on real servers. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_NAMES } from '@cardea/contracts';
import { needRedis, redisSays, startRedis, testDatabase } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { cardeaFixture, exampleOf, SECRETS } from './cardea-fixture.ts';

const OWNER_ONLY = 0o400;

const database = testDatabase();
needRedis();
const { run, folder, printed, remove } = cardeaFixture(() => database.url);
afterAll(remove);

const asked = async (line: string, env: { [name: string]: string } = {}) => {
  const { code, out } = await run(`${line} --data ${folder} --json`, env);
  return { code, last: JSON.parse(out.trim().split('\n').at(-1) ?? '{}') };
};
const environmentOf = async (service: string, env: { [name: string]: string } = {}) =>
  (await asked(exampleOf('env derive', { service }), env)).last.environment;

async function roleAt(url: string, role: string): Promise<string> {
  const client = new Client({ connectionString: url, options: `-c role=${role}` });
  await client.connect();
  const { rows } = await client.query<{ role: string }>('SELECT current_user AS role');
  await client.end();
  return rows[0]?.role ?? '';
}

describe('O13 logins of single services', () => {
  it('are made in PostgreSQL, also twice, and are those that a service is told of', async () => {
    for (const _ of ['first', 'again']) {
      const { code, last } = await asked(exampleOf('logins create', {}));
      expect(code).toBe(0);
      expect(last.logins.kafka).toEqual([]);
      expect(last.logins.postgres).toHaveLength(SERVICE_NAMES.length);
    }
    const { DATABASE_URL: url } = await environmentOf('vault');
    expect(new URL(url).username).toMatch(/^cardea_vault_[0-9a-f]{8}$/);
    expect(await roleAt(url, 'cardea_vault_app')).toBe('cardea_vault_app');
    await expect(roleAt(url, 'cardea_app')).rejects.toThrow('permission denied');
  });

  it('stay what they are when their service migrates with them', async () => {
    const { DATABASE_URL: url } = await environmentOf('vault');
    const migrated = await run(`migrate --all --data ${folder}`, {
      DATABASE_URL: url,
      MIGRATION_DATABASE_URL: database.url,
    });
    expect(migrated.code).toBe(0);
    await expect(roleAt(url, 'cardea_app')).rejects.toThrow('permission denied');
    await expect(roleAt(url, 'cardea_identity_app')).rejects.toThrow('permission denied');
  });

  it('have names of their own while JWT_SECRET is changed', async () => {
    const changed = { JWT_SECRET: 'n'.repeat(40), JWT_SECRET_PREVIOUS: SECRETS.JWT_SECRET };
    const before = await environmentOf('authz');
    const { last } = await asked('logins create', changed);
    expect(new Set(last.logins.postgres).size).toBe(2 * SERVICE_NAMES.length);
    const after = await environmentOf('authz', changed);
    for (const { DATABASE_URL: url } of [before, after]) {
      expect(await roleAt(url, 'cardea_authz_system')).toBe('cardea_authz_system');
    }
    expect(after.DATABASE_URL).not.toBe(before.DATABASE_URL);
  });

  it('are users of a Redis that reads what the command prints', async () => {
    const REDIS_URL = 'redis://:canary-redis-password@127.0.0.1:6379';
    const { code, last } = await asked(exampleOf('logins redis', {}), { REDIS_URL });
    expect(code).toBe(0);
    const server = await startRedis({ password: 'canary-redis-password', users: last.lines });
    try {
      const { REDIS_URL: own } = await environmentOf('vault', { REDIS_URL });
      const url = Object.assign(new URL(own), { port: String(server.port) }).href;
      expect(await redisSays(url, ['SET', 'vault:epoch:t', '1'])).toBe('+OK');
      expect(await redisSays(url, ['GET', 'rev:user:x'])).toBe('$-1');
      expect(await redisSays(url, ['SET', 'rev:user:x', '1'])).toMatch(/^-NOPERM/);
      expect(await redisSays(url, ['SUBSCRIBE', 'rev', 'rev:questions'])).toBe('*3');
      expect(await redisSays(url, ['PUBLISH', 'rev', '[]'])).toMatch(/^-NOPERM/);
      expect(await redisSays(server.url, ['ACL', 'WHOAMI'])).toBe('$7');
    } finally {
      await server.stop();
    }
  });

  it('are refused where everybody would be the first user of Redis', async () => {
    const { code } = await asked('logins redis', { REDIS_URL: 'redis://127.0.0.1:6379' });
    expect(code).toBe(78);
  });

  it('are written to files for their owner alone, and then not printed', async () => {
    const out = join(folder, 'own');
    const shown = printed.length;
    const REDIS_URL = 'redis://:canary-redis-password@127.0.0.1:6379';
    const { code, last } = await asked(`env derive --service approval --out ${out}`, { REDIS_URL });
    expect(code).toBe(0);
    const names = readdirSync(out);
    expect(last.files).toEqual(expect.arrayContaining(names.map((name) => join(out, name))));
    expect(names).toContain('INTERNAL_BEARERS');
    const unset: string[] = [];
    for (const name of names) {
      expect(statSync(join(out, name)).mode & 0o777).toBe(OWNER_ONLY);
      const value = readFileSync(join(out, name), 'utf8');
      if (value === '') unset.push(name);
      else expect(printed.slice(shown).join('')).not.toContain(value);
    }
    expect(unset.toSorted()).toEqual(['ENCRYPTION_KEY_PREVIOUS', 'JWT_SECRET_PREVIOUS']);
    const own = await environmentOf('approval', { REDIS_URL });
    expect([...Object.keys(own), ...unset].toSorted()).toEqual(names.toSorted());
  });
});

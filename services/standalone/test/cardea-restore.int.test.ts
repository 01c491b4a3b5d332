import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asOwner, beginRestore, endRestore, plannedMigrations } from '@cardea/read-models';
import { readSettings, type Settings } from '@cardea/runtime';
import { migrateServices, migrationSetsOf } from '@cardea/service';
import { services } from '@cardea/standalone';
import { silentLogger, testDatabase } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { cardeaFixture, SECRETS } from './cardea-fixture.ts';
import { emptyDatabases } from './empty-databases.ts';

const RESTORE_MS_MAX = 180_000;
const LATER = 'bus/0002-types';

const database = testDatabase();
const empty = emptyDatabases(() => database.url);
const { run, folder, remove } = cardeaFixture(() => database.url);
const backups = mkdtempSync(join(tmpdir(), 'cardea-backups-'));
afterAll(async () => {
  await empty.drop();
  remove();
  rmSync(backups, { recursive: true, force: true });
});

const saidBy = async (
  line: string,
  url: string,
  env = {},
  // biome-ignore lint/suspicious/noExplicitAny: whatever the command said.
): Promise<{ code: number; said: any }> => {
  const ran = await run(`${line} --data ${folder} --json`, { DATABASE_URL: url, ...env });
  return { code: ran.code, said: JSON.parse(ran.out.trim().split('\n').at(-1) ?? '') };
};
const query = async (url: string, sql: string) => {
  const client = new Client({ connectionString: url });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
};
const settingsOf = (url: string): Settings => {
  const { JWT_SECRET, ENCRYPTION_KEY } = SECRETS;
  const read = readSettings(
    { DATABASE_URL: url, JWT_SECRET, ENCRYPTION_KEY },
    { standalone: true },
  );
  if ('faults' in read) throw new Error('settings');
  return read.ok;
};
const schemasIn = (url: string) =>
  query(url, "SELECT nspname FROM pg_namespace WHERE nspname IN ('eventstore', 'bus', 'identity')");

describe('O11 a backup of another version', () => {
  it('is brought forward when it is older', { timeout: RESTORE_MS_MAX }, async () => {
    const url = await empty.make();
    const planned = [...(await plannedMigrations(migrationSetsOf(services))).keys()];
    expect(planned).toContain(LATER);
    await migrateServices({
      settings: settingsOf(url),
      definitions: services,
      version: '0.0.1',
      log: silentLogger,
      only: new Set(planned.filter((name) => name !== LATER)),
    });
    await query(url, "INSERT INTO bus.relay_checkpoints (log, position) VALUES ('identity', 0)");
    const out = join(backups, 'older');
    expect(await saidBy(`backup --out ${out}`, url)).toMatchObject({ code: 0 });
    const target = await empty.make();
    expect(await saidBy(`restore --in ${out}`, target)).toMatchObject({ code: 0 });
    expect(await saidBy('migrate --dry-run', target)).toMatchObject({ said: { pending: [] } });
    expect(await query(target, 'SELECT log FROM bus.relay_checkpoints')).toEqual([
      { log: 'identity' },
    ]);
  });

  it('is refused when it is newer, and says by which version it can be restored', async () => {
    await query(
      database.url,
      `INSERT INTO vault.schema_migrations (name, sha256, app_version) VALUES ('9000-new', 'x', '9.0.0')`,
    );
    const out = join(backups, 'newer');
    expect(await saidBy(`backup --out ${out}`, database.url)).toMatchObject({ code: 0 });
    await query(database.url, "DELETE FROM vault.schema_migrations WHERE name = '9000-new'");
    const target = await empty.make();
    expect(await saidBy(`restore --in ${out}`, target)).toMatchObject({
      code: 1,
      said: { error: { code: 'backup_newer', message: expect.stringContaining('0.0.0-test') } },
    });
    expect(await schemasIn(target)).toEqual([]);
  });
});

describe('O11 a restore', () => {
  it('that fails leaves an empty database, in which the next one succeeds', {
    timeout: RESTORE_MS_MAX,
  }, async () => {
    const out = join(backups, 'plain');
    expect(await saidBy(`backup --out ${out}`, database.url)).toMatchObject({ code: 0 });
    const url = await empty.make();
    const failed = await saidBy(`restore --in ${out}`, url, { KAFKA_BROKERS: '127.0.0.1:1' });
    expect(failed.code).toBe(1);
    expect(await schemasIn(url)).toEqual([]);
    const JWT_SECRET = 'another secret that is long enough for it';
    expect(await saidBy(`restore --in ${out}`, url, { JWT_SECRET })).toMatchObject({
      code: 0,
      said: { same_jwt_secret: false },
    });
  });

  it('keeps every process out until it is done', async () => {
    await asOwner(database.url, (owner) => beginRestore(owner, '0.0.1'));
    for (const line of ['migrate', `backup --out ${join(backups, 'half')}`]) {
      const { code, said } = await saidBy(line, database.url);
      expect(code).toBe(1);
      expect(said.error.message).toContain('being restored');
    }
    expect(await saidBy(`restore --in ${join(backups, 'plain')}`, database.url)).toMatchObject({
      said: { error: { code: 'restore_broken_off' } },
    });
    await asOwner(database.url, endRestore);
    expect(await saidBy('migrate', database.url)).toMatchObject({ code: 0 });
  });

  it('of events that are elsewhere asks for their own backup first', async () => {
    const env = { EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' };
    const out = join(backups, 'elsewhere');
    expect(await saidBy(`backup --out ${out}`, database.url, env)).toMatchObject({
      code: 1,
      said: { error: { code: 'events_elsewhere' } },
    });
    const url = await empty.make();
    expect(await saidBy(`restore --in ${join(backups, 'plain')}`, url, env)).toMatchObject({
      code: 1,
      said: { error: { code: 'other_event_store' } },
    });
  });
});

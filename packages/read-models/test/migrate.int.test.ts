import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type MigrationSet, migrate, pendingMigrations } from '@cardea/read-models';
import { silentLogger, testDatabase } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const database = testDatabase();
let folder: string;
let sets: readonly MigrationSet[];
const bring = (over: { appVersion?: string; sets?: readonly MigrationSet[] } = {}) =>
  migrate({
    connectionString: database.url,
    sets,
    appVersion: '1.2.0',
    log: silentLogger,
    ...over,
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardea-migrations-'));
  sets = [{ schema: 'plants', migrations: pathToFileURL(folder), serviceTables: true }];
  await writeStep('0001-trees', 'CREATE TABLE plants.trees (id text PRIMARY KEY)');
  await writeStep('0002-leaf', "INSERT INTO plants.trees VALUES ('leaf')");
  await writeStep(
    '0003-index',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS trees_id ON plants.trees (lower(id))',
    'transaction: false,',
  );
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const writeStep = (name: string, sql: string, more = '') =>
  writeFile(
    join(folder, `${name}.ts`),
    `export const migration = { ${more} up: async (knex) => { await knex.raw(${JSON.stringify(sql)}); } };`,
  );

async function query<Row extends object>(sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('migrations', () => {
  it('O7 apply each file once when ten processes migrate at once', async () => {
    const before = await pendingMigrations({
      connectionString: database.url,
      sets,
      appVersion: '1.2.0',
    });
    expect(before.pending).toEqual([
      'plants/0000-service-tables',
      'plants/0050-subject-key-indexes',
      'plants/0001-trees',
      'plants/0002-leaf',
      'plants/0003-index',
    ]);
    const applied = await Promise.all(Array.from({ length: 10 }, () => bring()));
    expect(applied.flat()).toEqual(before.pending);
    expect(await query('SELECT id FROM plants.trees')).toEqual([{ id: 'leaf' }]);
  });

  it('O7 refuse a file that was edited after it was applied', async () => {
    await bring();
    await writeStep('0002-leaf', "INSERT INTO plants.trees VALUES ('edited')");
    await expect(bring()).rejects.toThrow('plants/0002-leaf was applied and is another file now');
    await writeStep('0002-leaf', "INSERT INTO plants.trees VALUES ('leaf')");
    await expect(bring()).resolves.toEqual([]);
  });

  it('O7 refuse a process that is older than the database allows', async () => {
    await writeStep('0004-newer', 'SELECT 1', "minAppVersion: '1.2.0',");
    expect(await bring()).toEqual(['plants/0004-newer']);
    await expect(bring({ appVersion: '1.1.9' })).rejects.toThrow('needs version 1.2.0');
    const state = await pendingMigrations({
      connectionString: database.url,
      sets,
      appVersion: '1.1.9',
    });
    expect(state.tooNew).toEqual([{ name: 'plants/0004-newer', minAppVersion: '1.2.0' }]);
  });

  it('leave nothing of a step that fails, and repeat it at the next start', async () => {
    const step = (sql: string): readonly MigrationSet[] => [
      { schema: 'rocks', migrations: [{ name: '0001-rocks', up: (knex) => knex.raw(sql) }] },
    ];
    await expect(
      bring({ sets: step('CREATE TABLE rocks.rocks (id text); SELECT 1/0') }),
    ).rejects.toThrow('division by zero');
    expect(await bring({ sets: step('CREATE TABLE rocks.rocks (id text)') })).toEqual([
      'rocks/0001-rocks',
    ]);
  });

  it('give up on a busy table instead of holding up its readers, and say so', async () => {
    const busy = new Client({ connectionString: database.url });
    await busy.connect();
    await busy.query('CREATE TABLE public.busy (id text)');
    await busy.query('BEGIN; LOCK TABLE public.busy');
    let warnings = 0;
    const impatient = migrate({
      connectionString: `${database.url}`,
      sets: [
        {
          schema: 'rocks',
          migrations: [
            {
              name: '0002-busy',
              up: (knex) =>
                knex.raw("SET LOCAL lock_timeout = '50ms'; ALTER TABLE public.busy ADD b int"),
            },
          ],
        },
      ],
      appVersion: '1.2.0',
      log: {
        ...silentLogger,
        warn: () => {
          warnings += 1;
        },
      },
    });
    await expect(impatient).rejects.toMatchObject({ code: '55P03' });
    expect(warnings).toBe(2);
    await busy.end();
  });
});

/** The PostgreSQL for benchmarks: a temporary one with fsync on, or CARDEA_TEST_DATABASE_URL. */

import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startLocalPostgres } from '@cardea/local-postgres';
import { logger, secret } from '@cardea/runtime';
import { migrateServices } from '@cardea/service';
import { services as definitions } from '@cardea/standalone';
import { Client } from 'pg';

const VERSION = '0.1.0';
const TEMPLATE = 'bench_template';
/** B1 alone opens 256 connections for its floor. */
const CONNECTIONS_MAX = '420';

export type BenchServer = {
  readonly url: string;
  readonly folder: string;
  readonly pid: number;
  /** A new database with every schema. */
  database(): Promise<string>;
  stop(): Promise<void>;
};

export async function benchServer(): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-bench-'));
  chmodSync(folder, 0o711); // If we are root, the server's own user needs access.
  const local = await startLocalPostgres({
    dataFolder: join(folder, 'postgres'),
    password: randomBytes(18).toString('base64url'),
    settings: { max_connections: CONNECTIONS_MAX },
  });
  const remove = () => {
    local.stop({ remove: true });
    rmSync(folder, { recursive: true, force: true });
  };
  let stopped = false;
  let template: Promise<void> | undefined;
  const stop = () => {
    if (!stopped) remove();
    stopped = true;
  };
  process.once('exit', stop);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  return {
    url: local.connectionString(),
    folder,
    pid: local.pid,
    database: async () => {
      template ??= migrated(local);
      await template;
      const name = `bench_${randomBytes(6).toString('hex')}`;
      const client = new Client({ connectionString: local.connectionString() });
      await client.connect();
      await client
        .query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`)
        .finally(() => client.end());
      return local.connectionString(name);
    },
    stop: async () => stop(),
  };
}

/** Every other database is a copy of this one. */
async function migrated(local: LocalPostgres): Promise<void> {
  await local.createDatabase(TEMPLATE);
  const url = secret(local.connectionString(TEMPLATE));
  await migrateServices({
    settings: { DATABASE_URL: url, MIGRATION_DATABASE_URL: url },
    definitions,
    version: VERSION,
    log: logger({ service: 'bench', version: VERSION, level: 'error' }),
  });
}

export async function settingsOf(server: BenchServer, names: readonly string[]) {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      'SELECT name, current_setting(name) AS setting FROM pg_settings WHERE name = ANY ($1)',
      [names],
    );
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  } finally {
    await client.end();
  }
}

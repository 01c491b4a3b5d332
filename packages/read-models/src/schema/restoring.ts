/**
 * The mark of a database that is being restored. No process starts on it and nobody migrates it until the restore is
 * done. The mark is a migration that requires a version which does not exist, so that processes of an earlier release
 * respect it, too.
 */
import type { Queryable } from '@cardea/postgres';

const RESTORE_MIGRATION = '9999-restore';
const NOBODYS_VERSION = '999999.0.0';
/** A schema that every process checks. */
const SCHEMA = 'eventstore';

/** Sets the mark before any table exists. */
export async function beginRestore(owner: Queryable, appVersion: string): Promise<void> {
  await owner.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
  await owner.query(migrationsTable(SCHEMA));
  await owner.query(
    `INSERT INTO ${SCHEMA}.schema_migrations (name, sha256, app_version, min_app_version)
     VALUES ($1, '', $2, $3)`,
    [RESTORE_MIGRATION, appVersion, NOBODYS_VERSION],
  );
}

export async function endRestore(owner: Queryable): Promise<void> {
  await owner.query(`DELETE FROM ${SCHEMA}.schema_migrations WHERE name = $1`, [RESTORE_MIGRATION]);
}

export async function isRestoring(sql: Queryable): Promise<boolean> {
  const table = await sql.query<{ there: boolean }>(
    `SELECT to_regclass('${SCHEMA}.schema_migrations') IS NOT NULL AS there`,
  );
  if (table.rows[0]?.there !== true) return false;
  const { rowCount } = await sql.query(`SELECT FROM ${SCHEMA}.schema_migrations WHERE name = $1`, [
    RESTORE_MIGRATION,
  ]);
  return rowCount > 0;
}

/** Takes the name of a migration with its schema. */
export const isRestoreMigration = (name: string): boolean => name.endsWith(`/${RESTORE_MIGRATION}`);

export const migrationsTable = (schema: string): string => `
  CREATE TABLE IF NOT EXISTS ${schema}.schema_migrations (
    name text PRIMARY KEY,
    sha256 text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    app_version text NOT NULL,
    min_app_version text
  )`;

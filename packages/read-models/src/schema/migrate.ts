/**
 * Migrates a database forward, safely with concurrent processes: one migrates, the others wait and find nothing left to
 * do. Applied migrations are recorded with hash and version.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_NAMES } from '@cardea/contracts';
import { APP_ROLE, SYSTEM_ROLE } from '@cardea/postgres';
import { failpoint, type Logger } from '@cardea/runtime';
import createKnex, { type Knex } from 'knex';
import { Client } from 'pg';
import { type MigrationSet, type Step, stepOfValue, stepsOf } from './migration.ts';
import { isRestoreMigration, migrationsTable } from './restoring.ts';
import { makeRoles } from './roles.ts';
import { levelServiceRoles } from './service-roles.ts';
import { serviceTables, subjectKeyIndexes } from './service-tables.ts';

const LOCK_WAIT_MS = 120_000;
const LOCK_POLL_MS = 100;
const TABLE_LOCK_TIMEOUT_MS = 5000;
const TRIES_MAX = 3;
/** The advisory lock of the process that migrates this database. */
const MIGRATION_LOCK = '5711340911752413';
/** Schemas that all services share. Each service has rows in them. */
const SHARED_SCHEMAS = ['eventstore', 'bus'];

export type MigrateOptions = {
  /** Connects as the role that owns the schemas. */
  readonly connectionString: string;
  readonly sets: readonly MigrationSet[];
  readonly appVersion: string;
  readonly log: Logger;
  /** Login users of the services; by default the user that migrates. */
  readonly loginUsers?: readonly string[];
  /** Set by the restore itself, which its own mark must not stop. */
  readonly restoring?: boolean;
  /** Applies only these of the pending migrations, `schema/NNNN-name`: those with which a backup was made. */
  readonly only?: ReadonlySet<string>;
};

/** A migration, or this process, must not run. The message names the file and the reason. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused';
}

/** Applies pending migrations. Returns their names, `schema/NNNN-name`. */
export async function migrate(options: MigrateOptions): Promise<readonly string[]> {
  const { connectionString, appVersion } = options;
  const all = await planOf(options.sets);
  const plan = all.filter((step) => options.only?.has(nameOf(step)) ?? true);
  const lock = await lockMigrations(connectionString);
  const knex = createKnex({
    client: 'pg',
    connection: {
      connectionString,
      application_name: 'cardea-migrate',
      options: `-c lock_timeout=${TABLE_LOCK_TIMEOUT_MS}`,
    },
    pool: { min: 0, max: 1 },
    compileSqlOnError: false,
  });
  try {
    await makeRoles(knex, options.loginUsers ?? [await currentUser(knex)]);
    for (const set of options.sets) {
      await makeSchema(knex, set.schema);
      if (hasServiceTables(set)) await grantByDefault(knex, set.schema);
    }
    const state = await compare(plan, appVersion, (sql) => rowsOf(knex, sql));
    refuse(options.restoring === true ? withoutMark(state) : state);
    for (const step of state.pending) await applyWithRetry(knex, step, options);
    for (const { schema } of options.sets) await levelServiceRoles(knex, schema, SHARED_SCHEMAS);
    return state.pending.map(nameOf);
  } finally {
    await knex.destroy();
    await lock.end().catch(() => {});
  }
}

export type MigrationState = {
  /** Migrations that are not applied yet, in order: `schema/NNNN-name`. */
  readonly pending: readonly string[];
  /** Applied with another content. */
  readonly changed: readonly string[];
  /** Applied migrations that need a newer process than this one: name and version. */
  readonly tooNew: readonly { readonly name: string; readonly minAppVersion: string }[];
};

/** What prevents this process from starting. If nothing does, all three are empty. */
export async function pendingMigrations(
  options: Pick<MigrateOptions, 'connectionString' | 'sets' | 'appVersion'>,
): Promise<MigrationState> {
  const client = new Client({ connectionString: options.connectionString });
  client.on('error', () => {}); // The next query fails and reports the error.
  await client.connect();
  try {
    const state = await compare(
      await planOf(options.sets),
      options.appVersion,
      async (sql) => (await client.query(sql)).rows,
    );
    return { ...state, pending: state.pending.map(nameOf) };
  } finally {
    await client.end().catch(() => {});
  }
}

const hasServiceTables = (set: MigrationSet): boolean =>
  set.serviceTables ?? (SERVICE_NAMES as readonly string[]).includes(set.schema);

async function planOf(sets: readonly MigrationSet[]): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const set of sets) {
    if (hasServiceTables(set)) {
      steps.push(stepOfValue(set.schema, serviceTables(set.schema)));
      steps.push(stepOfValue(set.schema, subjectKeyIndexes(set.schema)));
    }
    steps.push(...(await stepsOf(set)));
  }
  return steps;
}

/** The migrations of this version: their names, and the hashes of their contents. */
export async function plannedMigrations(
  sets: readonly MigrationSet[],
): Promise<ReadonlyMap<string, string>> {
  return new Map((await planOf(sets)).map((step) => [nameOf(step), step.sha256]));
}

const nameOf = (step: Step): string => `${step.schema}/${step.name}`;

type Applied = { name: string; sha256: string; min_app_version: string | null };
type Comparison = Omit<MigrationState, 'pending'> & { readonly pending: readonly Step[] };

async function compare(
  plan: readonly Step[],
  appVersion: string,
  read: (sql: string) => Promise<readonly object[]>,
): Promise<Comparison> {
  const applied = new Map<string, Applied>();
  for (const schema of new Set(plan.map((step) => step.schema))) {
    const [found] = (await read(
      `SELECT to_regclass('${schema}.schema_migrations') IS NOT NULL AS there`,
    )) as readonly { there: boolean }[];
    if (found?.there !== true) continue;
    const rows = await read(
      `SELECT name, sha256, min_app_version FROM ${schema}.schema_migrations`,
    );
    for (const row of rows as readonly Applied[]) applied.set(`${schema}/${row.name}`, row);
  }
  return {
    pending: plan.filter((step) => !applied.has(nameOf(step))),
    changed: plan
      .filter((step) => (applied.get(nameOf(step))?.sha256 ?? step.sha256) !== step.sha256)
      .map(nameOf),
    tooNew: [...applied]
      .filter(([, row]) => row.min_app_version !== null && isOlder(appVersion, row.min_app_version))
      .map(([name, row]) => ({ name, minAppVersion: row.min_app_version ?? '' })),
  };
}

export const RESTORING =
  'This database is being restored, or a restore of it was broken off: then drop it, and restore into an empty one.';

const withoutMark = (state: Comparison): Comparison => ({
  ...state,
  tooNew: state.tooNew.filter(({ name }) => !isRestoreMigration(name)),
});

function refuse(state: Comparison): void {
  const [changed] = state.changed;
  if (changed !== undefined) {
    throw new MigrationRefused(`Migration ${changed} was applied and is another file now.`);
  }
  const [newer] = state.tooNew;
  if (newer !== undefined && isRestoreMigration(newer.name)) throw new MigrationRefused(RESTORING);
  if (newer !== undefined) {
    throw new MigrationRefused(
      `The database stands at ${newer.name}, which needs version ${newer.minAppVersion}.`,
    );
  }
}

/** Compares the numbers of `major.minor.patch` and ignores the rest. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string): number[] => text.split('-')[0]?.split('.').map(Number) ?? [];
  const [mine, theirs] = [numbers(version), numbers(than)];
  for (let index = 0; index < 3; index += 1) {
    const difference = (mine[index] ?? 0) - (theirs[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/**
 * Locks the migrations of this database. A separate session holds the lock, and waiting processes poll: a session that
 * waits inside a statement keeps a snapshot, and CREATE INDEX CONCURRENTLY waits for snapshots.
 */
async function lockMigrations(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString, application_name: 'cardea-migrate' });
  client.on('error', () => {}); // The lock is then lost, but each step's own row still lets it run only once.
  await client.connect();
  const deadline = performance.now() + LOCK_WAIT_MS;
  while (performance.now() < deadline) {
    const { rows } = await client.query<{ mine: boolean }>(
      `SELECT pg_try_advisory_lock(${MIGRATION_LOCK}) AS mine`,
    );
    if (rows[0]?.mine === true) return client;
    await pause(LOCK_POLL_MS);
  }
  await client.end();
  throw new MigrationRefused('Another process has been migrating this database for 120 s.');
}

async function makeSchema(knex: Knex, schema: string): Promise<void> {
  await knex.raw(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await knex.raw(migrationsTable(schema));
  await knex.raw(`
    GRANT USAGE ON SCHEMA ${schema} TO ${APP_ROLE}, ${SYSTEM_ROLE};
    GRANT SELECT ON ${schema}.schema_migrations TO ${APP_ROLE}, ${SYSTEM_ROLE}`);
}

/**
 * Only the system role may use a table whose migration grants nothing else. These are default privileges, not grants on
 * all tables, so that a privilege revoked by a migration stays revoked.
 */
async function grantByDefault(knex: Knex, schema: string): Promise<void> {
  await knex.raw(`
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema}
      GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${SYSTEM_ROLE};
    ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema}
      GRANT USAGE, SELECT ON SEQUENCES TO ${APP_ROLE}, ${SYSTEM_ROLE};`);
}

const LOCK_NOT_AVAILABLE = '55P03';

async function applyWithRetry(knex: Knex, step: Step, options: MigrateOptions): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await apply(knex, step, options.appVersion);
      options.log.debug({ migration: nameOf(step) }, 'migration applied');
      return;
    } catch (error) {
      const busy = (error as { code?: string }).code === LOCK_NOT_AVAILABLE;
      if (!busy || tries === TRIES_MAX) throw error;
      options.log.warn({ migration: nameOf(step), attempt: tries }, 'migration met a busy table');
    }
  }
}

async function apply(knex: Knex, step: Step, appVersion: string): Promise<void> {
  const migration = await step.load();
  const record = async (on: Knex): Promise<void> => {
    await on.raw(
      `INSERT INTO ${step.schema}.schema_migrations (name, sha256, app_version, min_app_version)
       VALUES (?, ?, ?, ?)`,
      [step.name, step.sha256, appVersion, migration.minAppVersion ?? null],
    );
  };
  if (migration.transaction === false) {
    await migration.up(knex);
    await record(knex);
    return;
  }
  await knex.transaction(async (transaction) => {
    await record(transaction);
    await migration.up(transaction);
    await failpoint('migrate.mid');
  });
}

async function rowsOf(knex: Knex, sql: string): Promise<readonly object[]> {
  return (await knex.raw<{ rows: readonly object[] }>(sql)).rows;
}

async function currentUser(knex: Knex): Promise<string> {
  const [row] = (await rowsOf(knex, 'SELECT current_user AS name')) as readonly { name: string }[];
  return row?.name ?? '';
}

export { build } from './build-query.ts';
export type { Change } from './change.ts';
export { foldByKey, patch, put, remove } from './change.ts';
export { release } from './copy-out.ts';
export type { Answers, Database, Queryable, Sql, Statement, Transaction } from './database.ts';
export { DatabaseUnavailable } from './database.ts';
export { makeDatabaseLogins } from './database-logins.ts';
export {
  type LeaderLocks,
  type LeaderLocksOptions,
  leaderLocks,
  lockKey,
} from './leader-locks.ts';
export {
  type MigrateOptions,
  MigrationRefused,
  type MigrationState,
  migrate,
  pendingMigrations,
  plannedMigrations,
  RESTORING,
} from './migrate.ts';
export type { Migration, MigrationSet, NamedMigration } from './migration.ts';
export { type PolicyReleaseOptions, releasePolicyStream } from './policy-release.ts';
export { type PolicyRunnerOptions, type RunningPolicies, runPolicies } from './policy-runner.ts';
export type { EventPolicy } from './policy-sink.ts';
export { openPositions, type PositionBoard, type PositionsOptions } from './positions.ts';
export {
  type DatabaseOptions,
  openDatabase,
  type PostgresDatabase,
} from './postgres-database.ts';
export {
  type Positions,
  type Projection,
  type ProjectionTools,
  projection,
  type Table,
  type TableChange,
} from './projection.ts';
export {
  type ReleaseOptions,
  releaseProjectionStream,
} from './projection-release.ts';
export {
  type ProjectionState,
  type RunnerOptions,
  type RunningProjections,
  runProjections,
} from './projection-runner.ts';
export { type Privilege, protectTable } from './protect-table.ts';
export { type RebuildOptions, type Rebuilt, rebuildProjection } from './rebuild.ts';
export { beginRestore, endRestore, isRestoreMigration, isRestoring } from './restoring.ts';
export { APP_ROLE, rolesOf, SYSTEM_ROLE } from './roles.ts';
export { type SharedTransactions, sharedTransactions } from './shared-transactions.ts';
export { sparedNotices } from './spared-notices.ts';
export { eraseKeysOfDays, postgresSubjectKeys } from './subject-key-table.ts';
export { countTable, orNull, table } from './table.ts';
export {
  asOwner,
  type BlockRange,
  type CopiedTable,
  openLoad,
  openSnapshot,
  type TableLoad,
  type TableSnapshot,
} from './table-copies.ts';
export {
  foreignKeysOf,
  rewrapTable,
  rowsByKey,
  subjectKeyTable,
  type WrappedKeyTable,
} from './wrapped-keys.ts';

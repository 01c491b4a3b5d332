export type {
  Answers,
  CopiedRow,
  Database,
  LineField,
  Queryable,
  Sql,
  Statement,
  Transaction,
} from '@cardea/postgres';
export {
  APP_ROLE,
  type Columns,
  computed,
  type DatabaseOptions,
  DatabaseUnavailable,
  JsonLines,
  jsonOf,
  type ListOfRows,
  namedColumns,
  openDatabase,
  orNull,
  type PageOfRows,
  type PostgresDatabase,
  pageOfTenant,
  pageOfTenants,
  printedRow,
  type ReadRow,
  type RowOf,
  refuseSharedSessions,
  rolesOf,
  type Selection,
  SharedSessions,
  SYSTEM_ROLE,
  selection,
  type TableSelection,
  textOf,
  textsOf,
  type WrittenRow,
} from '@cardea/postgres';
export { release } from './copies/copy-out.ts';
export {
  asOwner,
  type BlockRange,
  type CopiedTable,
  openLoad,
  openSnapshot,
  type TableLoad,
  type TableSnapshot,
} from './copies/table-copies.ts';
export { build } from './database/build-query.ts';
export { dueInTurns, tenantsIn } from './database/due-in-turns.ts';
export { type SharedTransactions, sharedTransactions } from './database/shared-transactions.ts';
export { type PolicyReleaseOptions, releasePolicyStream } from './policies/policy-release.ts';
export {
  type PolicyRunnerOptions,
  type RunningPolicies,
  runPolicies,
} from './policies/policy-runner.ts';
export type { EventPolicy } from './policies/policy-sink.ts';
export {
  openPositions,
  type PositionBoard,
  type PositionsOptions,
} from './projections/positions.ts';
export {
  type Positions,
  type Projection,
  type ProjectionTools,
  projection,
} from './projections/projection.ts';
export {
  type ReleaseOptions,
  releaseProjectionStream,
} from './projections/projection-release.ts';
export {
  type ProjectionState,
  type RunnerOptions,
  type RunningProjections,
  runProjections,
} from './projections/projection-runner.ts';
export { type RebuildOptions, type Rebuilt, rebuildProjection } from './projections/rebuild.ts';
export { type RowTarget, rowStatements } from './projections/row-statements.ts';
export {
  type Change,
  countTable,
  foldByKey,
  patch,
  put,
  remove,
  type Table,
  type TableChange,
  type TableWrite,
  table,
  upsert,
} from './projections/table.ts';
export { makeDatabaseLogins } from './schema/database-logins.ts';
export {
  type MigrateOptions,
  MigrationRefused,
  type MigrationState,
  migrate,
  pendingMigrations,
  plannedMigrations,
  RESTORING,
} from './schema/migrate.ts';
export type { Migration, MigrationSet, NamedMigration } from './schema/migration.ts';
export { type Privilege, protectTable } from './schema/protect-table.ts';
export { beginRestore, endRestore, isRestoreMigration, isRestoring } from './schema/restoring.ts';
export { eraseKeysOfDays, postgresSubjectKeys } from './subject-key-table.ts';
export {
  foreignKeysOf,
  rewrapTable,
  rowsByKey,
  subjectKeyTable,
  type WrappedKeyTable,
} from './wrapped-keys.ts';

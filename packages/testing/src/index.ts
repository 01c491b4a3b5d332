export { postgresSetup } from './postgres-setup.ts';
export { silentLogger } from './silent-logger.ts';
export { type TestDatabase, testDatabase } from './test-database.ts';
export { isRequired, type MigrateTemplate, type PostgresOfRun } from './test-postgres.ts';

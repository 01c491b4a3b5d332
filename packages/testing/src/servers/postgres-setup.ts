/** The global setup that vitest runs once per project. Projects of one run share one PostgreSQL. */
import { serverSetup } from './run-server.ts';
import { type MigrateTemplate, startPostgresOfRun } from './test-postgres.ts';

export const postgresSetup = (migrate: MigrateTemplate) =>
  serverSetup('postgres', () => startPostgresOfRun(migrate));

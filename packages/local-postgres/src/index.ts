export { clusterOf } from './cluster-folder.ts';
export type { LocalPostgres, LocalPostgresOptions } from './local-postgres.ts';
export { connectionString, startLocalPostgres } from './local-postgres.ts';
export { LocalPostgresError } from './local-postgres-error.ts';
export { runningPort, stopServerOf } from './server-process.ts';

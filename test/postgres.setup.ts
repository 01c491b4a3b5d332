/** The database that every test file gets a copy of: the schemas of the kernel and of all services. */
import { migrate } from '@cardea/read-models';
import { postgresSetup, silentLogger } from '@cardea/testing';
import { migrationSets } from './migration-sets.ts';

export default postgresSetup(async (connectionString) => {
  await migrate({ connectionString, sets: migrationSets, appVersion: '0.1.0', log: silentLogger });
});

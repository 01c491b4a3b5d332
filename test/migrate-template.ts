/** Creates the schemas of the kernel and of all services in the database that is copied for test files. */
import { migrate } from '@cardea/read-models';
import { silentLogger } from '@cardea/testing';
import { migrationSets } from './migration-sets.ts';

export async function migrateTemplate(connectionString: string): Promise<void> {
  await migrate({ connectionString, sets: migrationSets, appVersion: '0.1.0', log: silentLogger });
}

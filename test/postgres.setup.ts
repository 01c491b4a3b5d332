/** Called by vitest before the first test of a project that uses PostgreSQL. */
import { postgresSetup } from '@cardea/testing';
import { migrateTemplate } from './migrate-template.ts';

export default postgresSetup(migrateTemplate);

/** Every schema of the product, in the order of creation: the kernel's, then the services'. */
import { busMigrations } from '@cardea/event-bus';
import { eventStoreMigrations } from '@cardea/event-store';
import type { MigrationSet } from '@cardea/read-models';
import { SERVICE_FOLDERS } from '@cardea/testing';

export const migrationSets: readonly MigrationSet[] = [
  { schema: 'eventstore', migrations: eventStoreMigrations },
  { schema: 'bus', migrations: busMigrations },
  ...Object.entries(SERVICE_FOLDERS).map(([schema, folder]) => ({
    schema,
    migrations: new URL(`../services/${folder}/migrations/`, import.meta.url),
  })),
];

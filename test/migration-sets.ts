/** Every schema of the product, in the order of creation: the kernel's, then the services'. */
import type { ServiceName } from '@cardea/contracts';
import { busMigrations } from '@cardea/event-bus';
import { eventStoreMigrations } from '@cardea/event-store';
import type { MigrationSet } from '@cardea/read-models';

const FOLDERS: { readonly [schema in ServiceName]: string } = {
  identity: 'identity',
  authz: 'authz',
  vault: 'vault',
  approval: 'approval',
  webhooks: 'webhook-dispatcher',
  audit: 'audit-projector',
};

export const migrationSets: readonly MigrationSet[] = [
  { schema: 'eventstore', migrations: eventStoreMigrations },
  { schema: 'bus', migrations: busMigrations },
  ...Object.entries(FOLDERS).map(([schema, folder]) => ({
    schema,
    migrations: new URL(`../services/${folder}/migrations/`, import.meta.url),
  })),
];

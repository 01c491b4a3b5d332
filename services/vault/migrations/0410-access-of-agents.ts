/** Whether the agents of a tenant may ask for access that they lack. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE vault.tenants (
        tenant_id text COLLATE "C" PRIMARY KEY,
        agent_access boolean NOT NULL
      );
    `);
    await protectTable(knex, 'vault.tenants', { app: ['SELECT'] });
  },
};

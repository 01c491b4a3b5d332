/** When a tenant that was closed is deleted with all that it holds. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.tenants ADD COLUMN shred_at timestamptz;
      CREATE INDEX tenants_shredding ON identity.tenants (shred_at) WHERE shred_at IS NOT NULL;
    `);
  },
};

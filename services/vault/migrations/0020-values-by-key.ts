/** What finds the values that stand under an older key of their tenant. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  transaction: false,
  up: async (knex) => {
    await knex.raw('DROP INDEX CONCURRENTLY IF EXISTS vault.secret_versions_key');
    await knex.raw(
      'CREATE INDEX CONCURRENTLY secret_versions_key ON vault.secret_versions (tenant_id, dek_version) WHERE blob IS NOT NULL',
    );
  },
};

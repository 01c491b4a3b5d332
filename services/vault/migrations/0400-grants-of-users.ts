/** A person sees what agents were given in their name. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE INDEX grants_user ON vault.grants (tenant_id, user_id, granted_at DESC, grant_id DESC)
        WHERE user_id IS NOT NULL;
    `);
  },
};

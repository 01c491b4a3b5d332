/** Which algorithm signs the answers of userinfo to an application; null: they are JSON. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.applications ADD COLUMN userinfo_signed_response_alg text;
    `);
  },
};

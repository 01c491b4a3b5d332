/** The claims that an application receives beside those of OpenID Connect; it had none so far. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.applications
        ADD COLUMN claims jsonb NOT NULL DEFAULT '[]';
    `);
  },
};

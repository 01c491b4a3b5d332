/** Whether an application has to use PKCE; every one did so far. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.applications
        ADD COLUMN require_pkce boolean NOT NULL DEFAULT true;
    `);
  },
};

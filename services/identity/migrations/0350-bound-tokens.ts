/** Whether an application gets only access tokens that are bound to a key; none did before. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.applications
        ADD COLUMN dpop_bound_access_tokens boolean NOT NULL DEFAULT false;
    `);
  },
};

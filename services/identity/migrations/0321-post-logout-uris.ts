/** Where a browser may be sent after a sign-out; nowhere so far. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.applications
        ADD COLUMN post_logout_redirect_uris text[] NOT NULL DEFAULT '{}';
    `);
  },
};

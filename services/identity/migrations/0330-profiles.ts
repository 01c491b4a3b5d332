/** The language of a user, and the name that they like to be called by; neither is unique. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(
      'ALTER TABLE identity.users ADD COLUMN locale text, ADD COLUMN preferred_username text',
    );
  },
};

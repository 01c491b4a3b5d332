/** Until when a user is locked out, somewhere or everywhere. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw('ALTER TABLE identity.users ADD COLUMN locked_until timestamptz');
  },
};

/** The language that a user chose; null until identity says it: they get mail in the tenant's. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw('ALTER TABLE approval.users ADD COLUMN locale text');
  },
};

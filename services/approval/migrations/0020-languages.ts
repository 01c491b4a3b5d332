/** The language of a tenant's mails; null until identity says it. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw('ALTER TABLE approval.tenants ADD COLUMN language text');
  },
};

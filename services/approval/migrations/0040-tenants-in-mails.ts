/** What mails show of a tenant: its name and colour; null until identity says them. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(
      'ALTER TABLE approval.tenants ADD COLUMN display_name text, ADD COLUMN brand_color text',
    );
  },
};

/** Roles and scopes with which a machine calls Cardea's own API; none had any before. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.applications
        ADD COLUMN roles text[] NOT NULL DEFAULT '{}',
        ADD COLUMN machine_scopes text[] NOT NULL DEFAULT '{}';
    `);
  },
};

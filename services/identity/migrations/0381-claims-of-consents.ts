/** The claims that a person has let an application have, by name; there were none so far. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.consents
        ADD COLUMN claims text[] NOT NULL DEFAULT '{}';
    `);
  },
};

/** Who made an agent and its keys: they end when the account is reclaimed. Unknown of rows from before. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.agents ADD COLUMN created_by text;
      ALTER TABLE identity.agent_keys ADD COLUMN created_by text;
    `);
  },
};

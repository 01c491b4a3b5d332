/** Who is vouched for, who answers for an agent, and of which event each copy of a fact of identity is. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    // 0: from before positions were kept, so older than any change that is told.
    await knex.raw(`
      ALTER TABLE vault.agents
        ADD COLUMN owner_user_id text COLLATE "C",
        ADD COLUMN position bigint NOT NULL DEFAULT 0;
      ALTER TABLE vault.agent_sessions ADD COLUMN position bigint NOT NULL DEFAULT 0;
      ALTER TABLE vault.users
        ADD COLUMN vouched boolean NOT NULL DEFAULT false,
        ADD COLUMN position bigint NOT NULL DEFAULT 0;`);
  },
};

/** What an agent session on behalf of a user rests on: a login session, or the epoch of its user. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.agent_sessions
        ADD COLUMN via text,
        ADD COLUMN user_epoch integer,
        ADD COLUMN subject_sid text;
      CREATE INDEX agent_sessions_subject ON identity.agent_sessions (subject_sid)
        WHERE ended_at IS NULL;
    `);
  },
};

/**
 * Each login compares its device with those of the user's newest sessions, revoked ones too: without an index
 * that has these it read the whole table. Nothing but the start is in it, so no change of a session writes it.
 */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE INDEX newest_sessions_of_user ON identity.sessions (user_id, started_at);
      DROP INDEX identity.sessions_of_user;
    `);
  },
};

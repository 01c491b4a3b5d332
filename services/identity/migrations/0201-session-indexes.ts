/**
 * Each refresh changes when a session was last active and when it expires. With neither in an index the new
 * row stays on its page, and no index is written.
 */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      DROP INDEX identity.sessions_alive;
      DROP INDEX identity.sessions_expiry;
      CREATE INDEX sessions_of_user ON identity.sessions (user_id) WHERE revoked_at IS NULL;
      ALTER TABLE identity.sessions SET (fillfactor = 80);
    `);
  },
};

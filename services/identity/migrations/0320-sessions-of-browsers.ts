/** The sign-in in a browser with which a session of an application ends; null: none, as before. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.sessions ADD COLUMN browser_sid text;
      CREATE INDEX sessions_browser ON identity.sessions (browser_sid, id)
        WHERE browser_sid IS NOT NULL AND revoked_at IS NULL;
    `);
  },
};

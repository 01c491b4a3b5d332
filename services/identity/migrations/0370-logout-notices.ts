/** Applications receive notices of ended sessions (OpenID Connect Back-Channel Logout); those that wait are a queue. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.applications
        ADD COLUMN backchannel_logout_uri text,
        ADD COLUMN backchannel_logout_session_required boolean NOT NULL DEFAULT false;
      CREATE INDEX applications_with_logout_uri ON identity.applications (tenant_id, id)
        WHERE backchannel_logout_uri IS NOT NULL AND deleted_at IS NULL;

      -- Applications that a sign-in in a browser has served and that have no session of their own.
      ALTER TABLE identity.sessions
        ADD COLUMN served_clients text[] NOT NULL DEFAULT '{}';

      CREATE TABLE identity.logout_notices (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        due_at timestamptz NOT NULL
      );
      CREATE INDEX logout_notices_due ON identity.logout_notices (due_at);
      CREATE INDEX logout_notices_turns ON identity.logout_notices (tenant_id, due_at);
    `);
    await protectTable(knex, 'identity.logout_notices', { app: ['SELECT'] });
  },
};

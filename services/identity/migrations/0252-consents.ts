/** What users let applications do, and the epoch of the consent that a session rests on. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE identity.consents (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        user_id text NOT NULL,
        client_id text NOT NULL,
        scopes text[] NOT NULL,
        resources text[] NOT NULL,
        epoch integer NOT NULL,
        granted_at timestamptz NOT NULL,
        revoked_at timestamptz
      );
      CREATE INDEX consents_user ON identity.consents (user_id) WHERE revoked_at IS NULL;
      CREATE INDEX consents_client ON identity.consents (client_id);
      ALTER TABLE identity.sessions ADD COLUMN consent_epoch integer;
    `);
    await protectTable(knex, 'identity.consents', { app: ['SELECT'] });
  },
};

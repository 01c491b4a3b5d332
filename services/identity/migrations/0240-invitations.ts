/** Invitations that were neither accepted nor withdrawn. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE identity.invitations (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        user_id text NOT NULL,
        email text, -- null: erased before this row was written, which its removal follows
        roles text[] NOT NULL,
        invited_by text,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX invitations_newest ON identity.invitations (tenant_id, created_at DESC, id);
      CREATE INDEX invitations_user ON identity.invitations (user_id);
    `);
    await protectTable(knex, 'identity.invitations', { app: ['SELECT'] });
  },
};

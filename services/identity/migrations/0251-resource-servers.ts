/** The APIs of tenants that take tokens of this authorization server. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE identity.resource_servers (
        id text PRIMARY KEY,
        tenant_id text NOT NULL,
        identifier text NOT NULL,
        name text NOT NULL,
        scopes jsonb NOT NULL,
        token_ttl_seconds integer NOT NULL,
        created_at timestamptz NOT NULL
      );
      -- Not unique: an identifier that is given away within one batch stands twice for a moment. Its
      -- reservation is what makes it one resource server's.
      CREATE INDEX resource_servers_identifier ON identity.resource_servers (identifier);
      CREATE INDEX resource_servers_tenant ON identity.resource_servers (tenant_id, created_at, id);
    `);
    await protectTable(knex, 'identity.resource_servers', { app: ['SELECT'] });
  },
};

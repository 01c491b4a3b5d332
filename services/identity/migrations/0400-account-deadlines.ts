/** What becomes of accounts at a later time: addresses of before are released, and what their owners asked for takes effect. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE identity.account_deadlines (
        user_id text NOT NULL,
        kind text NOT NULL,
        -- The hash of the address that is released; empty for what an account has once.
        name text NOT NULL,
        tenant_id text NOT NULL,
        due_at timestamptz NOT NULL,
        PRIMARY KEY (user_id, kind, name)
      );
      CREATE INDEX account_deadlines_due ON identity.account_deadlines (due_at);
      CREATE INDEX account_deadlines_tenant ON identity.account_deadlines (tenant_id);
    `);
    await protectTable(knex, 'identity.account_deadlines', { app: ['SELECT'] });
  },
};

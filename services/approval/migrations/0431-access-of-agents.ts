/** Requests of agents for access that they lack, and whom the tenant lets them ask. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE approval.requests ADD COLUMN access jsonb;
      -- Null until identity says it; false: agents may not ask.
      ALTER TABLE approval.tenants ADD COLUMN agent_access jsonb;
    `);
  },
};

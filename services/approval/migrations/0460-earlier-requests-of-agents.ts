/** A person sees whether an agent asks them for the first time, and when they last approved one of its requests. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE INDEX requests_of_agent
        ON approval.requests (tenant_id, user_id, agent_id, created_at DESC);`);
  },
};

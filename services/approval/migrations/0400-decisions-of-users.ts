/** A person sees what they have decided, also where it was asked of somebody else. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE INDEX requests_responded ON approval.requests (tenant_id, responded_by, created_at DESC, id DESC)
        WHERE responded_by IS NOT NULL;
    `);
  },
};

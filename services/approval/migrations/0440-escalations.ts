/** Requests that a second addressee may decide too, once they have waited for some time. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE approval.requests
        ADD COLUMN escalates_at timestamptz,
        ADD COLUMN escalates_to text,
        ADD COLUMN second_approver jsonb,
        ADD COLUMN escalated_at timestamptz;
      CREATE INDEX requests_escalating
        ON approval.requests (tenant_id, escalates_to, created_at DESC, id DESC)
        WHERE escalates_to IS NOT NULL;
      CREATE INDEX requests_to_escalate ON approval.requests (escalates_at)
        WHERE status = 'pending' AND escalated_at IS NULL AND escalates_at IS NOT NULL;`);
  },
};

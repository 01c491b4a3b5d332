/** Requests that a set of persons may decide; each of them gets a mail of their own. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    // One request is mailed to many, so the person belongs to the key of its jobs.
    await knex.raw(`
      ALTER TABLE approval.requests
        ADD COLUMN approver jsonb,
        ADD COLUMN needed integer,
        ADD COLUMN responders jsonb,
        ADD COLUMN session_user_id text;
      CREATE INDEX requests_open_sets ON approval.requests (tenant_id, user_id, created_at DESC)
        WHERE approver IS NOT NULL AND status = 'pending';
      CREATE INDEX requests_to_sets ON approval.requests (expires_at) WHERE approver IS NOT NULL;
      ALTER TABLE approval.notification_jobs
        DROP CONSTRAINT notification_jobs_pkey,
        ADD PRIMARY KEY (tenant_id, request_id, channel, user_id);`);
  },
};

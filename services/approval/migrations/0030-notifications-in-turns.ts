/** Mail about requests is sent in turns between tenants. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(
      `CREATE INDEX notification_jobs_turns ON approval.notification_jobs (tenant_id, run_at)`,
    );
  },
};

/**
 * Jobs also tell users that wrong binding codes have blocked them until then; `request_id` is the id of the event
 * that says so.
 */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`ALTER TABLE approval.notification_jobs ADD COLUMN blocked_until timestamptz`);
  },
};

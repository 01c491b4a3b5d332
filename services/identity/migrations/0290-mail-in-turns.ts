/** Mail is sent in turns between tenants. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`CREATE INDEX mail_queue_turns ON identity.mail_queue (tenant_id, due_at)`);
  },
};

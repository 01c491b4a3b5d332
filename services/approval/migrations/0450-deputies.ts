/** Who decides in the place of a person, the requests that were made out so, and the mails about it. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE approval.deputies (
        tenant_id text NOT NULL,
        user_id text NOT NULL,
        deputy text NOT NULL,
        from_at timestamptz NOT NULL,
        until_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, user_id)
      );
      CREATE INDEX deputies_of ON approval.deputies (tenant_id, deputy);
      ALTER TABLE approval.requests ADD COLUMN deputy_for text;
      CREATE INDEX requests_of_deputies ON approval.requests (tenant_id, deputy_for)
        WHERE deputy_for IS NOT NULL;
      ALTER TABLE approval.notification_jobs ADD COLUMN deputyship jsonb;`);
    await protectTable(knex, 'approval.deputies', { app: ['SELECT'] });
  },
};

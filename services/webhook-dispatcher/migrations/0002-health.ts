/** How each webhook fares, as its attempts tell: it outlives every process. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE webhooks.health (
        webhook_id uuid PRIMARY KEY,
        tenant_id text COLLATE "C" NOT NULL,
        failing_since timestamptz,
        failures integer NOT NULL,
        -- In a row, without any answer.
        unanswered integer NOT NULL,
        last_success_at timestamptz
      );
      CREATE INDEX health_failing ON webhooks.health (failing_since)
        WHERE failing_since IS NOT NULL;`);
    await protectTable(knex, 'webhooks.health', { app: [] });
  },
};

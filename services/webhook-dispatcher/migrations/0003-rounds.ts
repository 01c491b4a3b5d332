/** Claims go from tenant to tenant through what can be claimed now, however much waits or is leased. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      -- True once it is due: then only its lease says whether it can be claimed.
      ALTER TABLE webhooks.queue ADD COLUMN ready boolean NOT NULL DEFAULT false;
      CREATE INDEX queue_claimable ON webhooks.queue (tenant_id, webhook_id, run_at)
        WHERE ready AND lease_until IS NULL;
      CREATE INDEX queue_waiting ON webhooks.queue (run_at) WHERE NOT ready;
      CREATE INDEX queue_lapsing ON webhooks.queue (lease_until) WHERE lease_until IS NOT NULL;
      CREATE INDEX health_given_up ON webhooks.health (failing_since)
        WHERE failing_since IS NOT NULL AND failures >= 20;
      DROP INDEX webhooks.health_failing;`);
  },
};

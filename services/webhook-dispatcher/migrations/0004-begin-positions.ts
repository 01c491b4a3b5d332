/** From which positions of the services' logs on a webhook gets events; null for webhooks of before. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw('ALTER TABLE webhooks.webhooks ADD COLUMN begins_after jsonb');
  },
};

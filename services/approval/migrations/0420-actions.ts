/** Approvals of actions of a caller's own tools; what the person reads of them is not in the table. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw('ALTER TABLE approval.requests ADD COLUMN action_binding jsonb');
  },
};

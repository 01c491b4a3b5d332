/** Whom an agent may ask besides its session's user and its owner. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`ALTER TABLE approval.agents ADD COLUMN approvers text[] NOT NULL DEFAULT '{}'`);
  },
};

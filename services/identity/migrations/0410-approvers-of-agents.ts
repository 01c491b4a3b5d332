/** Whom an agent may ask besides its session's user and its owner; null in rows of before: nobody. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw('ALTER TABLE identity.agents ADD COLUMN approvers jsonb');
  },
};

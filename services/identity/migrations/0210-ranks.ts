/** For whom an administrator vouches, and from when on access tokens show a rank that was lowered. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.users ADD COLUMN vouched boolean NOT NULL DEFAULT false;
      ALTER TABLE identity.revocations ADD COLUMN tokens_before bigint;
    `);
  },
};

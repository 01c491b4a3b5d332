/** Who is vouched for, since which event, who made a request, and whether its answer is a vouched person's. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    // 0: from before positions were kept, so older than any change that is told. Requests of before have
    // their origin in their stream alone.
    await knex.raw(`
      ALTER TABLE approval.users
        ADD COLUMN vouched boolean NOT NULL DEFAULT false,
        ADD COLUMN position bigint NOT NULL DEFAULT 0;
      ALTER TABLE approval.requests
        ADD COLUMN origin text,
        ADD COLUMN user_vouched boolean;`);
  },
};

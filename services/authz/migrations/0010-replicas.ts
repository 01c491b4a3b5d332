/** The replicas that may answer from memory, and up to which position of the log each has applied events. */
import { type Migration, SYSTEM_ROLE } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    // A few rows that are changed all the time: room in the page keeps each change in it.
    await knex.raw(`
      CREATE TABLE authz.replicas (
        replica_id uuid PRIMARY KEY,
        counter bigint NOT NULL,
        applied bigint NOT NULL,
        fenced boolean NOT NULL
      ) WITH (fillfactor = 10);
      REVOKE ALL ON authz.replicas FROM PUBLIC;
      GRANT SELECT, INSERT, UPDATE, DELETE ON authz.replicas TO ${SYSTEM_ROLE};`);
  },
};

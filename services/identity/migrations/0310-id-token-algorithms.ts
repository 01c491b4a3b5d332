/** Which algorithm signs the id_tokens of an application; those registered before keep EdDSA. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.applications
        ADD COLUMN id_token_signed_response_alg text NOT NULL DEFAULT 'EdDSA';
    `);
  },
};

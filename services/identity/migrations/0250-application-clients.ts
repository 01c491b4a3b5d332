/** What an application may ask the authorization server for, and the key before the last rotation. */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.applications
        ADD COLUMN redirect_uris text[] NOT NULL DEFAULT '{}',
        ADD COLUMN allowed_origins text[] NOT NULL DEFAULT '{}',
        ADD COLUMN grant_types text[] NOT NULL DEFAULT '{authorization_code,refresh_token}',
        ADD COLUMN scopes text[] NOT NULL DEFAULT '{openid,profile,email,offline_access}',
        ADD COLUMN first_party boolean NOT NULL DEFAULT false,
        ADD COLUMN require_par boolean NOT NULL DEFAULT false,
        ADD COLUMN branding jsonb NOT NULL DEFAULT '{}',
        ADD COLUMN jwks jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN previous_key text,
        ADD COLUMN previous_until timestamptz;
      CREATE INDEX applications_previous_key ON identity.applications (previous_key)
        WHERE previous_key IS NOT NULL;
      CREATE INDEX applications_origins ON identity.applications USING gin (allowed_origins);
    `);
  },
};

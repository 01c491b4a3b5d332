/**
 * Who gave the address of an account, and accounts by address over all tenants: a sign-up asks whether the
 * address is somebody's. Addresses of before count as proven where the account says so.
 */
import type { Migration } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE identity.users ADD COLUMN address_from text NOT NULL DEFAULT 'administrator';
      UPDATE identity.users SET address_from = 'proof' WHERE email_verified;
      CREATE INDEX users_address ON identity.users (email);
    `);
  },
};

/**
 * Administrators search inside addresses and names. The extension pg_trgm would do, but creating extensions is a
 * right that operators withhold, and in a database with the locale C it sees no letters except those of ASCII. The
 * index holds hashes of the tenant and three characters: a search reads nothing of other tenants.
 */
import type { Migration } from '@cardea/read-models';

const TEXT =
  "coalesce(email, '') || E'\\n' || coalesce(name, '') || E'\\n' || coalesce(username, '')";

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE FUNCTION identity.searchable(input text) RETURNS text
        LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 50
        RETURN translate(
          lower(regexp_replace(normalize(input, NFKD), '[\\u0300-\\u036f]', '', 'g') COLLATE "und-x-icu"),
          'ς', 'σ');
      CREATE FUNCTION identity.searchable_user(email text, name text, username text) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 60
        RETURN identity.searchable(${TEXT});
      CREATE FUNCTION identity.trigrams(tenant text, searchable text) RETURNS bigint[]
        LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
        RETURN ARRAY(
          SELECT DISTINCT hashtextextended(substr(searchable, start, 3), hashtextextended(tenant, 0))
          FROM generate_series(1, length(searchable) - 2) AS start);
      CREATE INDEX users_search ON identity.users USING gin (
        identity.trigrams(
          tenant_id, identity.searchable_user(email, display_name, preferred_username)
        )
      ) WITH (gin_pending_list_limit = 1024);
    `);
  },
};

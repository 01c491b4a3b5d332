/**
 * The tables in every service's schema: keys of encrypted fields, the progress of each projection, policy and consumer,
 * and parked events. Only `cardea_system` may use them.
 */
import type { NamedMigration } from './migration.ts';

/** The name sorts before a service's own `0001-…`. */
export const serviceTables = (schema: string): NamedMigration => {
  const source = `
    CREATE TABLE ${schema}.subject_keys (
      subject_id text PRIMARY KEY,
      tenant_id text NOT NULL,
      wrapped bytea, -- null: erased, never filled again
      kek_id text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      erased_at timestamptz
    );
    CREATE INDEX subject_keys_tenant ON ${schema}.subject_keys (tenant_id);

    CREATE TABLE ${schema}.projection_checkpoints (
      name text PRIMARY KEY,
      position bigint NOT NULL,
      epoch bigint NOT NULL DEFAULT 0, -- moves when anyone but the runner changes rows or parked events
      updated_at timestamptz NOT NULL DEFAULT now()
    ) WITH (fillfactor = 50);
    CREATE TABLE ${schema}.policy_checkpoints (LIKE ${schema}.projection_checkpoints INCLUDING ALL);

    CREATE TABLE ${schema}.parked_events (
      owner text NOT NULL, -- projection:<name>, policy:<name>, consumer:<name>
      stream_id text NOT NULL,
      position bigint NOT NULL,
      event_id uuid NOT NULL,
      event_type text NOT NULL,
      error_code text, -- of the event that parked its stream; null for those that wait behind it
      event jsonb, -- where the event cannot be read again from a log
      parked_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (owner, stream_id, position, event_id)
    );

    CREATE TABLE ${schema}.consumer_positions (
      consumer text NOT NULL,
      topic text NOT NULL,
      partition integer NOT NULL,
      "offset" bigint NOT NULL, -- the adapter's own, last applied
      position bigint NOT NULL, -- of the source's log, last applied
      part integer NOT NULL DEFAULT 0, -- of that position's event, where it was published as several
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (consumer, topic, partition)
    ) WITH (fillfactor = 50);`;
  return {
    name: '0000-service-tables',
    source: source.replaceAll(`${schema}.`, ''),
    up: async (knex) => {
      await knex.raw(source);
    },
  };
};

/**
 * Indexes for finding keys that are wrapped under an older ENCRYPTION_KEY, and keys of days that have passed.
 */
export const subjectKeyIndexes = (schema: string): NamedMigration => {
  const indexes = {
    subject_keys_kek: '(kek_id) WHERE wrapped IS NOT NULL',
    subject_keys_day: `(right(subject_id, 10)) WHERE wrapped IS NOT NULL
      AND (subject_id LIKE 'context:%' OR subject_id LIKE 'transient:%')`,
  };
  return {
    name: '0050-subject-key-indexes',
    source: JSON.stringify(indexes),
    // The table has a row per person, so the index is built without blocking anyone.
    transaction: false,
    up: async (knex) => {
      for (const [name, on] of Object.entries(indexes)) {
        // A build that was interrupted leaves an invalid index, which is useless.
        await knex.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${schema}.${name}`);
        await knex.raw(`CREATE INDEX CONCURRENTLY ${name} ON ${schema}.subject_keys ${on}`);
      }
    },
  };
};

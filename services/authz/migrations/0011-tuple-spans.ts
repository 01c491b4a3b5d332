/** From when to when each tuple existed, for questions about an earlier moment. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE authz.tuple_spans (
        id uuid PRIMARY KEY,
        key bytea NOT NULL,
        tenant_id text COLLATE "C" NOT NULL,
        position bigint NOT NULL,
        created_at timestamptz NOT NULL,
        from_at timestamptz NOT NULL,
        to_at timestamptz,
        relation smallint NOT NULL CHECK (relation BETWEEN 0 AND 7),
        own_relation text COLLATE "C" CHECK ((relation = 7) = (own_relation IS NOT NULL)),
        user_type text COLLATE "C" NOT NULL,
        user_id text COLLATE "C" NOT NULL,
        object_type text COLLATE "C" NOT NULL,
        object_id text COLLATE "C" NOT NULL,
        subject_key uuid NOT NULL,
        object_key uuid NOT NULL,
        object_wild uuid NOT NULL
      );
      CREATE INDEX tuple_spans_by_object
        ON authz.tuple_spans (tenant_id, object_key, relation, subject_key);
      CREATE INDEX tuple_spans_by_subject ON authz.tuple_spans (tenant_id, subject_key, relation);
      CREATE INDEX tuple_spans_by_object_type ON authz.tuple_spans (tenant_id, object_type);
      CREATE INDEX tuple_spans_by_key ON authz.tuple_spans (key);

      CREATE TABLE authz.tuple_clocks (
        tenant_id text COLLATE "C" PRIMARY KEY,
        at timestamptz NOT NULL
      );`);
    await protectTable(knex, 'authz.tuple_spans', { app: ['SELECT'] });
    await protectTable(knex, 'authz.tuple_clocks', { app: ['SELECT'] });
  },
};

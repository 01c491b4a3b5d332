/** Relationship tuples as lists read them and indexes are loaded from, and how many there are. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE authz.tuples (
        key bytea PRIMARY KEY,
        tenant_id text COLLATE "C" NOT NULL,
        position bigint NOT NULL,
        id uuid NOT NULL,
        created_at timestamptz NOT NULL,
        relation smallint NOT NULL CHECK (relation BETWEEN 0 AND 6),
        user_type text COLLATE "C" NOT NULL,
        user_id text COLLATE "C" NOT NULL,
        object_type text COLLATE "C" NOT NULL,
        object_id text COLLATE "C" NOT NULL,
        subject_key uuid NOT NULL,
        object_key uuid NOT NULL,
        object_wild uuid NOT NULL,
        UNIQUE (tenant_id, position)
      );
      CREATE INDEX tuples_by_object ON authz.tuples (tenant_id, object_key, relation, subject_key);
      CREATE INDEX tuples_by_subject ON authz.tuples (tenant_id, subject_key, relation)
        INCLUDE (object_key, object_wild);
      CREATE INDEX tuples_by_object_type ON authz.tuples (tenant_id, object_type, position);
      CREATE INDEX tuples_by_object_id ON authz.tuples (tenant_id, object_id, position);

      CREATE TABLE authz.tuple_counts (
        tenant_id text COLLATE "C" NOT NULL,
        object_type text COLLATE "C" NOT NULL,
        n bigint NOT NULL,
        PRIMARY KEY (tenant_id, object_type)
      );`);
    await protectTable(knex, 'authz.tuples', { app: ['SELECT'] });
    await protectTable(knex, 'authz.tuple_counts', { app: ['SELECT'] });
  },
};

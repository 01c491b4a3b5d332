/** Models of tenants, each version for good, and tuples with relations of such a model. */
import { type Migration, protectTable } from '@cardea/read-models';

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      ALTER TABLE authz.tuples DROP CONSTRAINT tuples_relation_check;
      ALTER TABLE authz.tuples ADD COLUMN own_relation text COLLATE "C";
      ALTER TABLE authz.tuples ADD CHECK (relation BETWEEN 0 AND 7);
      ALTER TABLE authz.tuples ADD CHECK ((relation = 7) = (own_relation IS NOT NULL));

      CREATE TABLE authz.models (
        tenant_id text COLLATE "C" NOT NULL,
        version integer NOT NULL,
        published_at timestamptz NOT NULL,
        types jsonb NOT NULL,
        PRIMARY KEY (tenant_id, version)
      );`);
    await protectTable(knex, 'authz.models', { app: ['SELECT'] });
  },
};

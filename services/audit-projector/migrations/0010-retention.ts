/**
 * Old rows are removed by a role that may do nothing else; how long each tenant keeps its rows; what was
 * removed and is not published yet. A row younger than seven days is refused to that role too.
 */
import { type Migration, protectTable } from '@cardea/read-models';

/** Roles belong to the whole server: another database's migration may make it at the same moment. */
const REAPER = `
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'audit_reaper') THEN
      CREATE ROLE audit_reaper NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
    END IF;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
  END $$;
  -- Taken by SET ROLE and never inherited.
  DO $$ BEGIN
    IF NOT EXISTS (
      SELECT FROM pg_auth_members
      WHERE roleid = 'audit_reaper'::regrole AND member = 'cardea_system'::regrole AND set_option
    ) THEN
      GRANT audit_reaper TO cardea_system WITH INHERIT FALSE, SET TRUE;
    END IF;
  EXCEPTION WHEN internal_error OR unique_violation THEN NULL;
  END $$;
  GRANT USAGE ON SCHEMA audit TO audit_reaper;
  GRANT SELECT (tenant_id, ts, id), DELETE ON audit.events TO audit_reaper;
  CREATE POLICY reaper_reads ON audit.events FOR SELECT TO audit_reaper USING (true);
  CREATE POLICY reaper_removes ON audit.events FOR DELETE TO audit_reaper USING (true);

  CREATE OR REPLACE FUNCTION audit.refuse_change() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog AS $$
  BEGIN
    IF TG_OP = 'DELETE' AND current_user = 'audit_reaper' AND OLD.ts < now() - interval '7 days' THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
  END $$;`;

const PARTITIONS = `
  -- Drops the oldest partition whose day lies before the given one; none that a tenant may still keep.
  CREATE FUNCTION audit.drop_oldest_partition(before date) RETURNS date
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET lock_timeout = '2s' AS $$
  DECLARE
    day date;
  BEGIN
    IF before > (now() AT TIME ZONE 'UTC')::date - 366 THEN
      RAISE EXCEPTION 'a partition is kept for 366 days' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT min(to_date(substr(c.relname, 8), 'YYYYMMDD')) INTO day
    FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'audit.events'::regclass AND c.relname ~ '^events_[0-9]{8}$';
    IF day IS NULL OR day >= before THEN RETURN NULL; END IF;
    EXECUTE format('DROP TABLE audit.%I', 'events_' || to_char(day, 'YYYYMMDD'));
    RETURN day;
  END $$;
  REVOKE ALL ON FUNCTION audit.drop_oldest_partition(date) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION audit.drop_oldest_partition(date) TO cardea_system;`;

const TABLES = `
  -- The days stand in the row of the tenant that the organization was made with.
  CREATE TABLE audit.retention (
    tenant_id text COLLATE "C" PRIMARY KEY,
    organization_id text NOT NULL,
    days integer
  );
  CREATE INDEX retention_organization ON audit.retention (organization_id);
  CREATE TABLE audit.removed_rows (
    tenant_id text COLLATE "C" PRIMARY KEY,
    before timestamptz NOT NULL,
    rows bigint NOT NULL
  );
  CREATE TABLE audit.cleanup (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    last_day date NOT NULL
  );
  -- The first one is the next night's.
  INSERT INTO audit.cleanup (last_day) VALUES ((now() AT TIME ZONE 'UTC')::date);`;

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(REAPER);
    await knex.raw(PARTITIONS);
    await knex.raw(TABLES);
    await protectTable(knex, 'audit.retention', { app: [] });
    await protectTable(knex, 'audit.removed_rows', { app: [] });
  },
};

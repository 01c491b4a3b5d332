/** The audit log: rows that can be added and read, and that nobody changes or takes away. */
import type { Migration } from '@cardea/read-models';

const PARTITION_LIFE = `
  -- Makes the day's partition where it is missing; the service's own role owns nothing.
  CREATE FUNCTION audit.make_partition(day date) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
  DECLARE
    name text := 'events_' || to_char(day, 'YYYYMMDD');
  BEGIN
    IF to_regclass('audit.' || name) IS NOT NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtext('audit.make_partition'));
    IF to_regclass('audit.' || name) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format(
      'CREATE TABLE audit.%I PARTITION OF audit.events FOR VALUES FROM (%L) TO (%L)',
      name, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
    -- A trigger on the parent does not guard its partitions against TRUNCATE.
    EXECUTE format(
      'CREATE TRIGGER keeps_all_rows BEFORE TRUNCATE ON audit.%I
         FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change()', name);
    EXECUTE format('REVOKE ALL ON audit.%I FROM PUBLIC, cardea_app, cardea_system', name);
  END $$;
  REVOKE ALL ON FUNCTION audit.make_partition(date) FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION audit.make_partition(date) TO cardea_system;`;

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(`
      CREATE TABLE audit.events (
        tenant_id text COLLATE "C" NOT NULL,
        ts timestamptz NOT NULL,
        id uuid NOT NULL,
        app_id text,
        type text COLLATE "C" NOT NULL,
        category text NOT NULL,
        action text NOT NULL,
        result text NOT NULL,
        actor_type text NOT NULL,
        actor_id text NOT NULL,
        actor_agent_id text,
        target_type text NOT NULL,
        target_id text,
        source_ip text,
        source_user_agent text,
        source_geo_city text,
        source_geo_country text,
        details jsonb NOT NULL,
        request_id text,
        PRIMARY KEY (tenant_id, ts, id)
      ) PARTITION BY RANGE (ts);
      CREATE INDEX events_type ON audit.events (tenant_id, type, ts DESC, id DESC);
      CREATE INDEX events_category ON audit.events (tenant_id, category, ts DESC, id DESC);
      CREATE INDEX events_actor ON audit.events (tenant_id, actor_id, ts DESC, id DESC);
      CREATE INDEX events_app ON audit.events (tenant_id, app_id, ts DESC, id DESC)
        WHERE app_id IS NOT NULL;
      CREATE INDEX events_target ON audit.events (tenant_id, target_id, ts DESC, id DESC)
        WHERE target_id IS NOT NULL;

      ALTER TABLE audit.events ENABLE ROW LEVEL SECURITY;
      ALTER TABLE audit.events FORCE ROW LEVEL SECURITY;
      CREATE POLICY app_sees_its_tenant ON audit.events FOR SELECT TO cardea_app
        USING (tenant_id = nullif(current_setting('cardea.tenant', true), ''));
      CREATE POLICY system_reads ON audit.events FOR SELECT TO cardea_system USING (true);
      CREATE POLICY system_adds ON audit.events FOR INSERT TO cardea_system WITH CHECK (true);
      REVOKE ALL ON audit.events FROM PUBLIC, cardea_app, cardea_system;
      GRANT SELECT ON audit.events TO cardea_app;
      GRANT SELECT, INSERT ON audit.events TO cardea_system;

      CREATE FUNCTION audit.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
      END $$;
      CREATE TRIGGER keeps_its_rows BEFORE UPDATE OR DELETE ON audit.events
        FOR EACH ROW EXECUTE FUNCTION audit.refuse_change();
      CREATE TRIGGER keeps_all_rows BEFORE TRUNCATE ON audit.events
        FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
      ${PARTITION_LIFE}`);
  },
};

/**
 * Two processes that need the same day at once: the second one asked a second time by a name that it had
 * looked up before, and its answer from then was kept until the end of its statement, so it failed.
 */
import type { Migration } from '@cardea/read-models';

const MAKE_PARTITION = `
  CREATE OR REPLACE FUNCTION audit.make_partition(day date) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
  DECLARE
    name text := 'events_' || to_char(day, 'YYYYMMDD');
  BEGIN
    IF to_regclass('audit.' || name) IS NOT NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(hashtext('audit.make_partition'));
    IF EXISTS (
      SELECT FROM pg_class WHERE relname = name AND relnamespace = 'audit'::regnamespace
    ) THEN RETURN; END IF;
    EXECUTE format(
      'CREATE TABLE audit.%I PARTITION OF audit.events FOR VALUES FROM (%L) TO (%L)',
      name, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
    -- A trigger on the parent does not guard its partitions against TRUNCATE.
    EXECUTE format(
      'CREATE TRIGGER keeps_all_rows BEFORE TRUNCATE ON audit.%I
         FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change()', name);
    EXECUTE format('REVOKE ALL ON audit.%I FROM PUBLIC, cardea_app, cardea_system', name);
  END $$;`;

export const migration: Migration = {
  up: async (knex) => {
    await knex.raw(MAKE_PARTITION);
  },
};

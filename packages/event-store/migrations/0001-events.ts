/**
 * The schema `eventstore`. Writing goes through one function that runs as the owner, so both roles of
 * the product may read everything and change nothing.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    for (const statement of [ROLES, TABLES, IMMUTABLE, APPEND, GRANTS]) await knex.raw(statement);
  },
};

/** Roles belong to the whole cluster: another database's migration may make them at the same time. */
const ROLES = `
DO $$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['cardea_app', 'cardea_system'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END LOOP;
END $$`;

const TABLES = `
CREATE SCHEMA IF NOT EXISTS eventstore;

CREATE TABLE eventstore.streams (
  log smallint NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  previous bigint NOT NULL,
  revision bigint NOT NULL,
  PRIMARY KEY (log, stream_id)
) WITH (fillfactor = 80);
COMMENT ON COLUMN eventstore.streams.previous IS
  'the revision that the latest append expected, -1 for any; only the append function reads it';

CREATE TABLE eventstore.events (
  log smallint NOT NULL,
  position bigint NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  event_id uuid NOT NULL,
  type text NOT NULL,
  schema_version integer NOT NULL,
  time timestamptz NOT NULL,
  data jsonb NOT NULL,
  metadata jsonb NOT NULL,
  PRIMARY KEY (log, position),
  UNIQUE (log, stream_id, revision),
  UNIQUE (log, event_id)
)`;

const IMMUTABLE = `
CREATE FUNCTION eventstore.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'events are never changed' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER events_never_change
  BEFORE UPDATE OR DELETE OR TRUNCATE ON eventstore.events
  FOR EACH STATEMENT EXECUTE FUNCTION eventstore.refuse_change()`;

/**
 * Appends a batch in which no stream occurs twice. Several statements, not one: each sees what
 * committed before it, so what is read behind the lock is all there is.
 *
 * \`owners\` and \`starts\`: event n belongs to append owners[n], whose first event is starts[owner] + 1.
 * \`base\` is the position before the batch's first, null when nothing was stored. \`notes\` is null when
 * every append was stored at the revision it expected, else [append, kind, revision, position] for
 * each that needs a word.
 */
const APPEND = `
CREATE FUNCTION eventstore.append(
  for_log smallint, stream_ids text[], expecteds bigint[], counts integer[], starts integer[],
  owners integer[], event_ids uuid[], types text[], versions integer[], times timestamptz[],
  datas jsonb[], metadatas jsonb[], careful boolean, OUT base bigint, OUT notes jsonb
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  revisions bigint[]; -- by append: the stream's new revision; -1 refused, -2 refused but row made
  usual boolean;
BEGIN
  -- Compare and advance. Sorted, so that two batches never wait for each other in a circle.
  WITH advanced AS (
    INSERT INTO eventstore.streams AS s (log, stream_id, previous, revision)
    SELECT for_log, a.stream_id, a.expected, greatest(a.expected, 0) + a.count
      FROM unnest(stream_ids, expecteds, counts) AS a (stream_id, expected, count)
     ORDER BY a.stream_id COLLATE "C"
    ON CONFLICT (log, stream_id) DO UPDATE
       SET previous = EXCLUDED.previous,
           revision = s.revision + EXCLUDED.revision - greatest(EXCLUDED.previous, 0)
     WHERE s.revision = EXCLUDED.previous OR EXCLUDED.previous = -1
    RETURNING s.stream_id, s.revision, s.previous, s.xmax = 0 AND s.previous > 0 AS unfounded
  )
  SELECT array_agg(
           CASE WHEN d.unfounded THEN -2 ELSE coalesce(d.revision, -1) END ORDER BY a.n),
         bool_and(coalesce(d.previous >= 0 AND NOT d.unfounded, false)) AND NOT careful
    INTO revisions, usual
    FROM unnest(stream_ids) WITH ORDINALITY AS a (stream_id, n)
    LEFT JOIN advanced d ON d.stream_id = a.stream_id COLLATE "C";

  IF NOT usual THEN
    SELECT settled.revisions, settled.notes INTO revisions, notes
      FROM eventstore.settle(
        for_log, stream_ids, expecteds, counts, starts, event_ids, careful, revisions) AS settled;
    IF 0 > ALL (revisions) THEN RETURN; END IF;
  END IF;

  -- The order of commits begins here: the lock is taken last and ends with the transaction.
  PERFORM pg_advisory_xact_lock(1128354372, for_log);
  SELECT coalesce(max(e.position), 0) INTO base FROM eventstore.events e WHERE e.log = for_log;
  INSERT INTO eventstore.events
    (log, position, stream_id, revision, event_id, type, schema_version, time, data, metadata)
  SELECT for_log, base + row_number() OVER (ORDER BY e.n), stream_ids[e.owner],
         revisions[e.owner] - counts[e.owner] + e.n - starts[e.owner],
         e.event_id, e.type, e.version, e.time, e.data, e.metadata
    FROM unnest(owners, event_ids, types, versions, times, datas, metadatas) WITH ORDINALITY
         AS e (owner, event_id, type, version, time, data, metadata, n)
   WHERE revisions[e.owner] > 0;
END $$;

-- The rare paths: repeats, conflicts, and the revisions of appends that expected none.
CREATE FUNCTION eventstore.settle(
  for_log smallint, stream_ids text[], expecteds bigint[], counts integer[], starts integer[],
  event_ids uuid[], careful boolean, INOUT revisions bigint[], OUT notes jsonb
) LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  head record;
  tail record;
  actual bigint;
BEGIN
  notes := '[]';
  FOR i IN 1 .. array_length(stream_ids, 1) LOOP
    CONTINUE WHEN NOT careful AND revisions[i] > 0 AND expecteds[i] >= 0;
    IF revisions[i] = -2 THEN
      DELETE FROM eventstore.streams s WHERE s.log = for_log AND s.stream_id = stream_ids[i];
    END IF;
    SELECT e.stream_id, e.revision INTO head FROM eventstore.events e
     WHERE e.log = for_log AND e.event_id = event_ids[starts[i] + 1];
    IF FOUND THEN
      SELECT e.revision, e.position INTO tail FROM eventstore.events e
       WHERE e.log = for_log AND e.event_id = event_ids[starts[i] + counts[i]]
         AND e.stream_id = stream_ids[i] AND e.stream_id = head.stream_id
         AND e.revision = head.revision + counts[i] - 1;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'an event id names another event' USING ERRCODE = 'unique_violation';
      END IF;
      IF revisions[i] > 0 THEN
        UPDATE eventstore.streams s SET revision = s.revision - counts[i]
         WHERE s.log = for_log AND s.stream_id = stream_ids[i];
      END IF;
      revisions[i] := -1;
      notes := notes || jsonb_build_array(
        jsonb_build_array(i, 'repeated', tail.revision, tail.position::text));
    ELSIF revisions[i] < 0 THEN
      SELECT s.revision INTO actual FROM eventstore.streams s
       WHERE s.log = for_log AND s.stream_id = stream_ids[i];
      notes := notes || jsonb_build_array(
        jsonb_build_array(i, 'conflict', coalesce(actual, 0)));
    ELSE
      notes := notes || jsonb_build_array(jsonb_build_array(i, 'stored', revisions[i]));
    END IF;
  END LOOP;
END $$`;

const GRANTS = `
REVOKE ALL ON FUNCTION eventstore.append FROM PUBLIC;
REVOKE ALL ON FUNCTION eventstore.settle FROM PUBLIC;
GRANT USAGE ON SCHEMA eventstore TO cardea_app, cardea_system;
GRANT SELECT ON eventstore.events, eventstore.streams TO cardea_app, cardea_system;
GRANT EXECUTE ON FUNCTION eventstore.append TO cardea_app, cardea_system`;

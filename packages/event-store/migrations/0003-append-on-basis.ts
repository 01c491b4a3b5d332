/**
 * Appends that rest on other streams: each names the revisions at which it read them, and is refused when
 * one of them has another by now. And the notice of an append inside its own statement. The earlier
 * functions stay for processes of the release before.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    for (const statement of [UNMET, APPEND_BATCH, APPEND_EVENT, GRANTS]) await knex.raw(statement);
  },
};

/**
 * Refuses the appends whose basis has changed, gives back their streams' revisions, and adds a note for
 * each. It is called behind the lock of the log: nobody else can commit to the log before this transaction
 * ends, so what is equal now is equal at the append's place in the log, without locks on rows.
 */
const UNMET = `
CREATE FUNCTION eventstore.refuse_unmet(
  for_log smallint, stream_ids text[], counts integer[], basis_owners integer[],
  basis_streams text[], basis_revisions bigint[], INOUT revisions bigint[], INOUT notes jsonb
) LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  unmet integer;
  before bigint;
BEGIN
  FOR unmet IN
    SELECT DISTINCT b.owner
      FROM unnest(basis_owners, basis_streams, basis_revisions) AS b (owner, stream_id, revision)
     WHERE revisions[b.owner] > 0
       AND b.revision <> coalesce(
         (SELECT s.revision FROM eventstore.streams s
           WHERE s.log = for_log AND s.stream_id = b.stream_id COLLATE "C"), 0)
  LOOP
    before := revisions[unmet] - counts[unmet];
    IF before = 0 THEN
      DELETE FROM eventstore.streams s
       WHERE s.log = for_log AND s.stream_id = stream_ids[unmet] COLLATE "C";
    ELSE
      UPDATE eventstore.streams s SET revision = before
       WHERE s.log = for_log AND s.stream_id = stream_ids[unmet] COLLATE "C";
    END IF;
    revisions[unmet] := -1;
    notes := coalesce(notes, '[]') ||
      jsonb_build_array(jsonb_build_array(unmet, 'conflict', before));
  END LOOP;
END $$`;

/** As \`append\`, with the basis of each append: entry n belongs to append basis_owners[n]. */
const APPEND_BATCH = `
CREATE FUNCTION eventstore.append_batch(
  for_log smallint, stream_ids text[], expecteds bigint[], counts integer[], starts integer[],
  owners integer[], event_ids uuid[], types text[], versions integer[], times timestamptz[],
  datas jsonb[], metadatas jsonb[], careful boolean, basis_owners integer[], basis_streams text[],
  basis_revisions bigint[], told boolean, OUT base bigint, OUT notes jsonb
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
  IF cardinality(basis_owners) > 0 THEN
    SELECT held.revisions, held.notes INTO revisions, notes
      FROM eventstore.refuse_unmet(for_log, stream_ids, counts, basis_owners, basis_streams,
        basis_revisions, revisions, notes) AS held;
    IF 0 > ALL (revisions) THEN RETURN; END IF;
  END IF;
  SELECT coalesce(max(e.position), 0) INTO base FROM eventstore.events e WHERE e.log = for_log;
  INSERT INTO eventstore.events
    (log, position, stream_id, revision, event_id, type, schema_version, time, data, metadata)
  SELECT for_log, base + row_number() OVER (ORDER BY e.n), stream_ids[e.owner],
         revisions[e.owner] - counts[e.owner] + e.n - starts[e.owner],
         e.event_id, e.type, e.version, e.time, e.data, e.metadata
    FROM unnest(owners, event_ids, types, versions, times, datas, metadatas) WITH ORDINALITY
         AS e (owner, event_id, type, version, time, data, metadata, n)
   WHERE revisions[e.owner] > 0;
  IF told THEN PERFORM pg_notify('cardea_events', for_log::text); END IF;
END $$`;

/** As \`append_one\`: the short way for one event at a known revision. */
const APPEND_EVENT = `
CREATE FUNCTION eventstore.append_event(
  for_log smallint, for_stream text, expected bigint, event_id uuid, named text, version integer,
  happened timestamptz, data jsonb, metadata jsonb, basis_streams text[], basis_revisions bigint[],
  told boolean, OUT base bigint, OUT notes jsonb
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  revisions bigint[];
BEGIN
  IF expected = 0 THEN
    INSERT INTO eventstore.streams (log, stream_id, previous, revision)
    VALUES (for_log, for_stream, 0, 1) ON CONFLICT DO NOTHING;
  ELSE
    UPDATE eventstore.streams s SET previous = expected, revision = expected + 1
     WHERE s.log = for_log AND s.stream_id = for_stream AND s.revision = expected;
  END IF;
  IF NOT FOUND THEN
    SELECT long.base, long.notes INTO base, notes FROM eventstore.append_batch(
      for_log, ARRAY[for_stream], ARRAY[expected], ARRAY[1], ARRAY[0], ARRAY[1], ARRAY[event_id],
      ARRAY[named], ARRAY[version], ARRAY[happened], ARRAY[data], ARRAY[metadata], false,
      array_fill(1, ARRAY[cardinality(basis_streams)]), basis_streams, basis_revisions, told)
      AS long;
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(1128354372, for_log);
  IF cardinality(basis_streams) > 0 THEN
    SELECT held.revisions, held.notes INTO revisions, notes
      FROM eventstore.refuse_unmet(for_log, ARRAY[for_stream], ARRAY[1],
        array_fill(1, ARRAY[cardinality(basis_streams)]), basis_streams, basis_revisions,
        ARRAY[expected + 1], NULL) AS held;
    IF revisions[1] < 0 THEN RETURN; END IF;
  END IF;
  INSERT INTO eventstore.events AS e
    (log, position, stream_id, revision, event_id, type, schema_version, time, data, metadata)
  VALUES (
    for_log,
    coalesce((SELECT max(l.position) FROM eventstore.events l WHERE l.log = for_log), 0) + 1,
    for_stream, expected + 1, event_id, named, version, happened, data, metadata)
  RETURNING e.position - 1 INTO base;
  IF told THEN PERFORM pg_notify('cardea_events', for_log::text); END IF;
END $$`;

const GRANTS = `
REVOKE ALL ON FUNCTION eventstore.refuse_unmet FROM PUBLIC;
REVOKE ALL ON FUNCTION eventstore.append_batch FROM PUBLIC;
REVOKE ALL ON FUNCTION eventstore.append_event FROM PUBLIC;
GRANT EXECUTE ON FUNCTION eventstore.append_batch, eventstore.append_event
  TO cardea_app, cardea_system`;

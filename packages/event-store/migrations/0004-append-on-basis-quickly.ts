/**
 * The short way of an append compares what it rests on itself, a look at an index each, instead of by a
 * function for whole batches; that one is called only to refuse.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    await knex.raw(APPEND_EVENT);
  },
};

/** Takes the place of the function of migration 0003, whose form and grants stay. */
const APPEND_EVENT = `
CREATE OR REPLACE FUNCTION eventstore.append_event(
  for_log smallint, for_stream text, expected bigint, event_id uuid, named text, version integer,
  happened timestamptz, data jsonb, metadata jsonb, basis_streams text[], basis_revisions bigint[],
  told boolean, OUT base bigint, OUT notes jsonb
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
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
  FOR place IN 1 .. cardinality(basis_streams) LOOP
    CONTINUE WHEN basis_revisions[place] = coalesce(
      (SELECT s.revision FROM eventstore.streams s
        WHERE s.log = for_log AND s.stream_id = basis_streams[place]), 0);
    SELECT held.notes INTO notes
      FROM eventstore.refuse_unmet(for_log, ARRAY[for_stream], ARRAY[1],
        array_fill(1, ARRAY[cardinality(basis_streams)]), basis_streams, basis_revisions,
        ARRAY[expected + 1], NULL) AS held;
    RETURN;
  END LOOP;
  INSERT INTO eventstore.events AS e
    (log, position, stream_id, revision, event_id, type, schema_version, time, data, metadata)
  VALUES (
    for_log,
    coalesce((SELECT max(l.position) FROM eventstore.events l WHERE l.log = for_log), 0) + 1,
    for_stream, expected + 1, event_id, named, version, happened, data, metadata)
  RETURNING e.position - 1 INTO base;
  IF told THEN PERFORM pg_notify('cardea_events', for_log::text); END IF;
END $$`;

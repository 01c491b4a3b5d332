/**
 * A short way for the commonest append, one event at a known revision: no arrays, the same steps in the
 * same order. Whatever is not plain goes the long way.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    for (const statement of [APPEND_ONE, GRANTS]) await knex.raw(statement);
  },
};

const APPEND_ONE = `
CREATE FUNCTION eventstore.append_one(
  for_log smallint, for_stream text, expected bigint, event_id uuid, named text, version integer,
  happened timestamptz, data jsonb, metadata jsonb, OUT base bigint, OUT notes jsonb
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
    SELECT long.base, long.notes INTO base, notes FROM eventstore.append(
      for_log, ARRAY[for_stream], ARRAY[expected], ARRAY[1], ARRAY[0], ARRAY[1], ARRAY[event_id],
      ARRAY[named], ARRAY[version], ARRAY[happened], ARRAY[data], ARRAY[metadata], false) AS long;
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(1128354372, for_log);
  INSERT INTO eventstore.events AS e
    (log, position, stream_id, revision, event_id, type, schema_version, time, data, metadata)
  VALUES (
    for_log,
    coalesce((SELECT max(l.position) FROM eventstore.events l WHERE l.log = for_log), 0) + 1,
    for_stream, expected + 1, event_id, named, version, happened, data, metadata)
  RETURNING e.position - 1 INTO base;
END $$`;

const GRANTS = `
REVOKE ALL ON FUNCTION eventstore.append_one FROM PUBLIC;
GRANT EXECUTE ON FUNCTION eventstore.append_one TO cardea_app, cardea_system`;

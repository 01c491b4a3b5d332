/**
 * Records name their type, so that a reader skips what it does not handle without its body. Records of
 * before, and those without an envelope, have none, and nobody skips them. The functions of before stay for
 * processes of the release before.
 */
const TYPE = 'ALTER TABLE bus.records ADD COLUMN type text';

/** The notice names the types too, unless they are many: then it means all of them, as one without does. */
const PUBLISH = `
CREATE FUNCTION bus.publish(
  p_topic text, p_partitions smallint[], p_keys text[], p_types text[], p_values json)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  notice text := concat_ws(' ', p_topic, (SELECT string_agg(DISTINCT type, ' ') FROM unnest(p_types) AS type));
BEGIN
  WITH sent AS (
    SELECT partition, key, type, value, nth,
           row_number() OVER (PARTITION BY partition ORDER BY nth) AS nth_in_partition,
           count(*) OVER (PARTITION BY partition) AS count_in_partition
    FROM ROWS FROM (
           unnest(p_partitions), unnest(p_keys), unnest(p_types), json_array_elements(p_values))
         WITH ORDINALITY AS each(partition, key, type, value, nth)
  ), advanced AS (
    INSERT INTO bus.partitions AS p (topic, partition, next_offset)
    SELECT p_topic, partition, count(*) FROM sent GROUP BY partition ORDER BY partition
    ON CONFLICT (topic, partition) DO UPDATE SET next_offset = p.next_offset + excluded.next_offset
    RETURNING p.partition, p.next_offset
  )
  INSERT INTO bus.records (topic, partition, "offset", key, type, value)
  SELECT p_topic, partition, next_offset - count_in_partition + nth_in_partition - 1, key, type, value
  FROM sent JOIN advanced USING (partition) ORDER BY nth;
  PERFORM pg_notify('cardea_bus', CASE
    WHEN array_position(p_types, NULL) IS NOT NULL OR octet_length(notice) > 2000 THEN p_topic
    ELSE notice END);
END $$;
`;

/**
 * Looks at the next records of these partitions and returns those of the types, or without one. The last
 * record of each partition comes in any case, without its body where it is skipped: it tells up to where
 * the look went. \`first\` is the first offset that the partition still holds from the wanted one on. The
 * position of a record that was sent late is none of its partition's.
 */
const READ = `
CREATE FUNCTION bus.read(
  p_topics text[], p_partitions smallint[], p_nexts bigint[], p_types text[], p_limit int)
RETURNS TABLE (topic text, partition smallint, "offset" bigint, first bigint, is_kept boolean,
  key text, value json, "position" bigint, part int)
LANGUAGE sql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET search_path = pg_catalog AS $$
  WITH looked AS MATERIALIZED (
    SELECT r.* FROM ROWS FROM (unnest(p_topics), unnest(p_partitions), unnest(p_nexts))
      AS wanted(topic, partition, next)
    CROSS JOIN LATERAL (
      SELECT r.topic, r.partition, r."offset", r.key, r.value,
             r.type IS NULL OR p_types IS NULL OR r.type = ANY(p_types) AS is_kept
      FROM bus.records AS r
      WHERE r.topic = wanted.topic AND r.partition = wanted.partition AND r."offset" >= wanted.next
      ORDER BY r."offset" LIMIT p_limit
    ) AS r
    LIMIT p_limit
  ), ends AS (
    SELECT topic, partition, min("offset") AS first, max("offset") AS last FROM looked GROUP BY 1, 2
  )
  SELECT l.topic, l.partition, l."offset", e.first, l.is_kept,
         CASE WHEN l.is_kept THEN l.key END, CASE WHEN l.is_kept THEN l.value END,
         CASE WHEN NOT l.is_kept AND l.value->>'released' IS NULL THEN (l.value->>'position')::bigint END,
         CASE WHEN NOT l.is_kept THEN coalesce((l.value->>'part')::int, 0) END
  FROM looked AS l JOIN ends AS e USING (topic, partition)
  WHERE l.is_kept OR l."offset" = e.last
  ORDER BY l.topic, l.partition, l."offset"
$$;
`;

const GRANTS = `
REVOKE ALL ON FUNCTION bus.publish(text, smallint[], text[], text[], json) FROM PUBLIC;
REVOKE ALL ON FUNCTION bus.read(text[], smallint[], bigint[], text[], int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION bus.publish(text, smallint[], text[], text[], json) TO cardea_system;
GRANT EXECUTE ON FUNCTION bus.read(text[], smallint[], bigint[], text[], int) TO cardea_system;
`;

export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    for (const sql of [TYPE, PUBLISH, READ, GRANTS]) await knex.raw(sql);
  },
};

/**
 * A publisher that names nobody tells nobody: while no other process listens, nobody needs its notices. Each
 * process of the release before names itself.
 */
const PUBLISH = `
CREATE OR REPLACE FUNCTION bus.publish(
  p_topic text, p_partitions smallint[], p_keys text[], p_types text[], p_values json, p_publisher text)
RETURNS TABLE (at_partition smallint, next_at bigint)
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  notice text;
BEGIN
  RETURN QUERY
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
  ), stored AS (
    INSERT INTO bus.records (topic, partition, "offset", key, type, value)
    SELECT p_topic, partition, next_offset - count_in_partition + nth_in_partition - 1, key, type, value
    FROM sent JOIN advanced USING (partition) ORDER BY nth
  )
  SELECT a.partition, a.next_offset FROM advanced AS a;
  IF p_publisher IS NULL THEN RETURN; END IF;
  notice := concat_ws(' ', p_topic,
    (SELECT string_agg(DISTINCT type, ' ') FROM unnest(p_types) AS type), p_publisher);
  PERFORM pg_notify('cardea_bus', CASE
    WHEN array_position(p_types, NULL) IS NOT NULL OR octet_length(notice) > 2000 THEN p_topic
    ELSE notice END);
END $$;
`;

export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    await knex.raw(PUBLISH);
  },
};

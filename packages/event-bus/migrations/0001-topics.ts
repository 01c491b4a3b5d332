/**
 * Topics as tables: a record has a place (topic, partition, offset), offsets of a partition are dense
 * and in the order of the commits, since whoever publishes holds the partition's row until it commits.
 * Only `cardea_system` comes here.
 */
const TOPICS = `
CREATE TABLE bus.partitions (
  topic text COLLATE "C" NOT NULL,
  partition smallint NOT NULL,
  next_offset bigint NOT NULL,
  PRIMARY KEY (topic, partition)
) WITH (fillfactor = 50);

CREATE TABLE bus.records (
  topic text COLLATE "C" NOT NULL,
  partition smallint NOT NULL,
  "offset" bigint NOT NULL,
  key text NOT NULL,
  value json NOT NULL,
  published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (topic, partition, "offset")
);

-- New after each restore: whoever counts positions outside starts afresh when it changes.
CREATE TABLE bus.log_epoch (only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one), epoch uuid NOT NULL);
INSERT INTO bus.log_epoch (epoch) VALUES (gen_random_uuid());

-- Who shares the partitions of a consumer; alive as long as the session holds the lock of that key.
CREATE TABLE bus.members (
  consumer text NOT NULL,
  member uuid NOT NULL,
  lock_key bigint NOT NULL,
  PRIMARY KEY (consumer, member)
);

CREATE TABLE bus.relay_checkpoints (
  log text PRIMARY KEY,
  position bigint NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
`;

/** One statement: the rows of the partitions are taken in order, so two publishers never deadlock. */
const PUBLISH = `
CREATE FUNCTION bus.publish(p_topic text, p_partitions smallint[], p_keys text[], p_values json)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  WITH sent AS (
    SELECT partition, key, value, nth,
           row_number() OVER (PARTITION BY partition ORDER BY nth) AS nth_in_partition,
           count(*) OVER (PARTITION BY partition) AS count_in_partition
    FROM ROWS FROM (unnest(p_partitions), unnest(p_keys), json_array_elements(p_values))
         WITH ORDINALITY AS each(partition, key, value, nth)
  ), advanced AS (
    INSERT INTO bus.partitions AS p (topic, partition, next_offset)
    SELECT p_topic, partition, count(*) FROM sent GROUP BY partition ORDER BY partition
    ON CONFLICT (topic, partition) DO UPDATE SET next_offset = p.next_offset + excluded.next_offset
    RETURNING p.partition, p.next_offset
  )
  INSERT INTO bus.records (topic, partition, "offset", key, value)
  SELECT p_topic, partition, next_offset - count_in_partition + nth_in_partition - 1, key, value
  FROM sent JOIN advanced USING (partition) ORDER BY nth;
  PERFORM pg_notify('cardea_bus', p_topic);
END $$;
`;

/** A plan made while the table was empty would scan it for ever; hence the planner setting. */
const READ = `
CREATE FUNCTION bus.read(p_topics text[], p_partitions smallint[], p_nexts bigint[], p_limit int)
RETURNS TABLE (topic text, partition smallint, "offset" bigint, key text, value json)
LANGUAGE sql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET search_path = pg_catalog AS $$
  SELECT r.topic, r.partition, r."offset", r.key, r.value
  FROM ROWS FROM (unnest(p_topics), unnest(p_partitions), unnest(p_nexts)) AS wanted(topic, partition, next)
  CROSS JOIN LATERAL (
    SELECT * FROM bus.records AS r
    WHERE r.topic = wanted.topic AND r.partition = wanted.partition AND r."offset" >= wanted.next
    ORDER BY r."offset" LIMIT p_limit
  ) AS r
  LIMIT p_limit
$$;
`;

const GRANTS = `
REVOKE ALL ON FUNCTION bus.publish(text, smallint[], text[], json) FROM PUBLIC;
REVOKE ALL ON FUNCTION bus.read(text[], smallint[], bigint[], int) FROM PUBLIC;
GRANT USAGE ON SCHEMA bus TO cardea_system;
GRANT SELECT, INSERT, UPDATE ON bus.partitions, bus.relay_checkpoints TO cardea_system;
GRANT SELECT, INSERT, DELETE ON bus.records, bus.members TO cardea_system;
GRANT SELECT ON bus.log_epoch TO cardea_system;
GRANT EXECUTE ON FUNCTION bus.publish(text, smallint[], text[], json) TO cardea_system;
GRANT EXECUTE ON FUNCTION bus.read(text[], smallint[], bigint[], int) TO cardea_system;
`;

export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    for (const sql of [TOPICS, PUBLISH, READ, GRANTS]) await knex.raw(sql);
  },
};

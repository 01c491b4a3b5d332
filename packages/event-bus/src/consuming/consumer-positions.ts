import {
  computed,
  type Database,
  orNull,
  type Queryable,
  type RowOf,
  type Statement,
  selection,
  type Transaction,
} from '@cardea/read-models';

/**
 * A consumer's progress in each lane. A lane is a partition of a topic, or a single stream that the relay had parked.
 * Events of such a stream are sent late, so their positions are compared only among themselves.
 */
export type Lane = { readonly topic: string; readonly partition: number };

export type LanePosition = {
  /** The adapter's offset that was applied last; -1 before the first. */
  readonly offset: bigint;
  /** The position in the source's log that was applied last. */
  readonly position: bigint;
  readonly part: number;
};

export const NOTHING_APPLIED: LanePosition = { offset: -1n, position: 0n, part: 0 };

export const laneKey = ({ topic, partition }: Lane): string => `${topic}/${partition}`;

/** Last applied offset of each partition, by {@link laneKey}. */
export type AppliedOffsets = ReadonlyMap<string, bigint>;

/** An event is applied only when it comes after the lane's last position. */
export const isNewer = (
  event: { readonly position: string; readonly part?: number },
  seen: LanePosition,
): boolean => {
  const position = BigInt(event.position);
  return position > seen.position || (position === seen.position && (event.part ?? 0) > seen.part);
};

/** Takes the higher offset and the higher position, each independently, as the store does for a row. */
export const raised = (before: LanePosition, to: LanePosition): LanePosition => {
  const isFurther = to.offset > before.offset;
  const isAfter =
    to.position > before.position || (to.position === before.position && to.part > before.part);
  const { position, part } = isAfter ? to : before;
  return { offset: (isFurther ? to : before).offset, position, part };
};

/** Merges moves, so that each lane occurs once. */
export const raisedTogether = (
  moved: readonly (Lane & LanePosition)[],
): readonly (Lane & LanePosition)[] => {
  const lanes = new Map<string, Lane & LanePosition>();
  for (const each of moved) {
    const before = lanes.get(laneKey(each)) ?? each;
    lanes.set(laneKey(each), { ...each, ...raised(before, each) });
  }
  return [...lanes.values()];
};

const STORED = selection({
  topic: 'text',
  partition: 'integer',
  offset: 'bigint',
  position: 'bigint',
  part: 'integer',
});
const STORED_AT = STORED.and(selection({ updated_at: 'timestamptz' }));
const DUE = STORED.and(computed('stream', 'NULL', orNull('text')));

/** Positions, and which of some streams are parked. */
export type ConsumerProgress = {
  readonly seen: Map<string, LanePosition>;
  readonly parked: readonly string[];
};

/** The position to which a lane moves. If `from` is set, the move fails unless the lane is at that position. */
export type LaneMove = Lane & LanePosition & { readonly from?: LanePosition | undefined };

/** Positions of one consumer in its service's schema. */
export type ConsumerPositions = {
  /**
   * A statement that raises these positions and keeps their rows locked until the transaction ends. It fails if a lane
   * with `from` is at another position ({@link isMovedElsewhere}), because another process has applied records since.
   * Each lane may occur once.
   */
  moving(moves: readonly LaneMove[]): Statement;
  /** Locks all rows of this consumer. */
  lockAll(transaction: Transaction): Promise<void>;
  /** Raises positions without an effect. Records whose positions a database crash loses are read again. */
  storeLate(sql: Queryable, moved: readonly (Lane & LanePosition)[]): Promise<void>;
  read(sql: Queryable, topics: readonly string[]): Promise<Map<string, LanePosition>>;
  /** The lane's position, and when it was stored. */
  readLane(
    sql: Queryable,
    lane: Lane,
  ): Promise<(LanePosition & { readonly storedAt: Date }) | undefined>;
  /** Sets only the offset, forward or back, if the stored offset is still `from`. */
  reset(
    sql: Queryable,
    lane: Lane,
    to: { readonly from: bigint; readonly offset: bigint },
  ): Promise<void>;
  /**
   * Reads the positions of the topics and which of `streams` are parked, and one further parked stream if there is any.
   */
  readDue(
    sql: Queryable,
    topics: readonly string[],
    streams: readonly string[],
  ): Promise<ConsumerProgress>;
};

/** Plain SQL can end a transaction only by an error. This text is not a number, so casting it fails. */
const ELSEWHERE = 'positions moved elsewhere';

export const isMovedElsewhere = (error: unknown): boolean =>
  error instanceof Error && error.message.includes(ELSEWHERE);

export const consumerPositions = (schema: string, consumer: string): ConsumerPositions => {
  const table = `${schema}.consumer_positions`;
  const raise = (to: string): string => `
    "offset" = GREATEST(p."offset", ${to}."offset"),
    position = GREATEST(p.position, ${to}.position),
    part = CASE WHEN (${to}.position, ${to}.part) > (p.position, p.part) THEN ${to}.part ELSE p.part END,
    updated_at = now()`;
  const moveRows = {
    name: `${schema}_move_consumer_positions`,
    text: `
      WITH moves AS (
        SELECT * FROM unnest($2::text[], $3::int[], $4::bigint[], $5::bigint[], $6::int[],
            $7::bigint[], $8::bigint[], $9::int[])
          AS m(topic, partition, "offset", position, part, from_offset, from_position, from_part)
      ), raised AS (
        UPDATE ${table} AS p SET ${raise('m')} FROM moves AS m
        WHERE p.consumer = $1 AND p.topic = m.topic AND p.partition = m.partition
          AND (m.from_offset IS NULL
            OR (p."offset", p.position, p.part) = (m.from_offset, m.from_position, m.from_part))
        RETURNING p.topic, p.partition
      ), made AS (
        INSERT INTO ${table} (consumer, topic, partition, "offset", position, part)
        SELECT $1, m.topic, m.partition, m."offset", m.position, m.part FROM moves AS m
        WHERE (m.topic, m.partition) NOT IN (SELECT r.topic, r.partition FROM raised AS r)
        ON CONFLICT DO NOTHING RETURNING 1
      )
      SELECT CASE WHEN n < cardinality($2::text[]) THEN concat('${ELSEWHERE}: ', n)::int END
      FROM (SELECT (SELECT count(*) FROM raised) + (SELECT count(*) FROM made) AS n) AS moved`,
  };
  const storeRowsLate = {
    name: `${schema}_store_consumer_positions_late`,
    text: `
      INSERT INTO ${table} AS p (consumer, topic, partition, "offset", position, part)
      SELECT $1, moved.*
      FROM unnest($2::text[], $3::int[], $4::bigint[], $5::bigint[], $6::int[])
           AS moved(topic, partition, "offset", position, part)
      ORDER BY moved.topic, moved.partition
      ON CONFLICT (consumer, topic, partition) DO UPDATE SET ${raise('excluded')}
      RETURNING set_config('synchronous_commit', 'off', true)`,
  };
  const readRows = {
    name: `${schema}_read_consumer_positions`,
    text: `SELECT ${STORED.columns} FROM ${table}
           WHERE consumer = $1 AND topic = ANY($2)`,
  };
  const owner = `consumer:${consumer}`;
  const readDue = {
    name: `${schema}_read_due_of_consumer`,
    text: `SELECT ${DUE.columns} FROM ${table}
           WHERE consumer = $1 AND topic = ANY($2)
           UNION ALL
           SELECT DISTINCT NULL, NULL::int, NULL::bigint, NULL::bigint, NULL::int, stream_id
           FROM ${schema}.parked_events WHERE owner = $3 AND stream_id = ANY($4)
           UNION ALL
           (SELECT NULL, NULL, NULL, NULL, NULL, stream_id
            FROM ${schema}.parked_events WHERE owner = $3 LIMIT 1)`,
  };
  const movedColumns = (moved: readonly (Lane & LanePosition)[]) => [
    consumer,
    moved.map(({ topic }) => topic),
    moved.map(({ partition }) => partition),
    moved.map(({ offset }) => String(offset)),
    moved.map(({ position }) => String(position)),
    moved.map(({ part }) => part),
  ];
  return {
    moving: (moves) => {
      // All rows are locked in one order, so two processes that move the same lanes never deadlock.
      const all = moves.toSorted((a, b) => (laneKey(a) < laneKey(b) ? -1 : 1));
      const from = [
        all.map(({ from }) => from && String(from.offset)),
        all.map(({ from }) => from && String(from.position)),
        all.map(({ from }) => from?.part),
      ];
      return { ...moveRows, values: [...movedColumns(all), ...from] };
    },
    lockAll: async (transaction) => {
      await transaction.query(
        `SELECT FROM ${table} WHERE consumer = $1 ORDER BY topic, partition FOR UPDATE`,
        [consumer],
      );
    },
    storeLate: async (sql, moved) => {
      await sql.query(storeRowsLate, movedColumns(moved));
    },
    readLane: async (sql, { topic, partition }) => {
      const { rows } = await sql.query<RowOf<typeof STORED_AT>>(
        `SELECT ${STORED_AT.columns} FROM ${table}
         WHERE consumer = $1 AND topic = $2 AND partition = $3`,
        [consumer, topic, partition],
      );
      const [row] = rows;
      const found = byLane(rows).get(laneKey({ topic, partition }));
      return row && found && { ...found, storedAt: row.updated_at };
    },
    reset: async (sql, { topic, partition }, { from, offset }) => {
      await sql.query(
        `UPDATE ${table} SET "offset" = $5, updated_at = now()
         WHERE consumer = $1 AND topic = $2 AND partition = $3 AND "offset" = $4`,
        [consumer, topic, partition, String(from), String(offset)],
      );
    },
    read: async (sql, topics) => {
      const { rows } = await sql.query<RowOf<typeof STORED>>(readRows, [consumer, topics]);
      return byLane(rows);
    },
    readDue: async (sql, topics, streams) => {
      const { rows } = await sql.query<RowOf<typeof DUE>>(readDue, [
        consumer,
        topics,
        owner,
        streams,
      ]);
      return {
        seen: byLane(rows.filter(({ stream }) => stream === null)),
        parked: rows.flatMap(({ stream }) => stream ?? []),
      };
    },
  };
};

/** Leaves out the lanes of single streams, because their records count in their partitions. */
export const appliedOffsets = async (
  { database, schema }: { readonly database: Database; readonly schema: string },
  consumer: string,
  topics: readonly string[],
): Promise<AppliedOffsets> =>
  offsetsOf(await consumerPositions(schema, consumer).read(database.system, topics));

export const offsetsOf = (lanes: ReadonlyMap<string, LanePosition>): AppliedOffsets =>
  new Map([...lanes].map(([lane, { offset }]) => [lane, offset]));

const byLane = (rows: readonly RowOf<typeof STORED>[]): Map<string, LanePosition> =>
  new Map(
    rows.map((row) => [
      laneKey(row),
      { offset: BigInt(row.offset), position: BigInt(row.position), part: row.part },
    ]),
  );

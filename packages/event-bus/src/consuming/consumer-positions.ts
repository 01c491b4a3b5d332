import type { Database, Queryable, Statement, Transaction } from '@cardea/read-models';

/**
 * How far a consumer has come in each lane. A lane is a partition of a topic, or a single stream that the
 * relay had parked: its events are sent late, so their positions are compared among themselves only.
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

/** The higher of both, offset and position each for itself: what a store makes of a row. */
export const raised = (before: LanePosition, to: LanePosition): LanePosition => {
  const isFurther = to.offset > before.offset;
  const isAfter =
    to.position > before.position || (to.position === before.position && to.part > before.part);
  const { position, part } = isAfter ? to : before;
  return { offset: (isFurther ? to : before).offset, position, part };
};

/** Each lane once. */
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

type Row = {
  topic: string;
  partition: number;
  offset: string;
  position: string;
  part: number;
};

/** Positions, and which of some streams are parked. */
export type ConsumerProgress = {
  readonly seen: Map<string, LanePosition>;
  readonly parked: readonly string[];
};

/** Positions of one consumer in its service's schema. */
export type ConsumerPositions = {
  /**
   * Locks the rows of these lanes until the transaction ends, so a concurrent process sees the changes of
   * this one, and then looks which of the streams are parked; one round trip.
   */
  lock(
    transaction: Transaction,
    lanes: readonly Lane[],
    streams: readonly string[],
  ): Promise<ConsumerProgress>;
  /** Locks all rows of this consumer. */
  lockAll(transaction: Transaction): Promise<void>;
  /** A statement that only raises; each lane at most once. */
  storing(moved: readonly (Lane & LanePosition)[]): Statement;
  /** The same without an effect: what a crash of the database forgets is looked at again. */
  storeLate(sql: Queryable, moved: readonly (Lane & LanePosition)[]): Promise<void>;
  read(sql: Queryable, topics: readonly string[]): Promise<Map<string, LanePosition>>;
  /** The same as `lock`, without a lock. */
  readDue(
    sql: Queryable,
    topics: readonly string[],
    streams: readonly string[],
  ): Promise<ConsumerProgress>;
};

const MINE = `
  FROM unnest($2::text[], $3::int[]) AS lane(topic, partition)
  JOIN TABLE p ON p.consumer = $1 AND p.topic = lane.topic AND p.partition = lane.partition`;

export const consumerPositions = (schema: string, consumer: string): ConsumerPositions => {
  const table = `${schema}.consumer_positions`;
  const lockRows = {
    name: `${schema}_lock_consumer_positions`,
    text: `SELECT p.topic, p.partition, p."offset", p.position, p.part ${MINE.replace('TABLE', table)}
           ORDER BY p.topic, p.partition FOR UPDATE OF p`,
  };
  const addRows = {
    name: `${schema}_add_consumer_positions`,
    text: `INSERT INTO ${table} (consumer, topic, partition, "offset", position)
           SELECT $1, lane.topic, lane.partition, -1, 0
           FROM unnest($2::text[], $3::int[]) AS lane(topic, partition)
           ORDER BY 2, 3 ON CONFLICT DO NOTHING`,
  };
  const storeText = `
    INSERT INTO ${table} AS p (consumer, topic, partition, "offset", position, part)
    SELECT $1, moved.*
    FROM unnest($2::text[], $3::int[], $4::bigint[], $5::bigint[], $6::int[])
         AS moved(topic, partition, "offset", position, part)
    ORDER BY moved.topic, moved.partition
    ON CONFLICT (consumer, topic, partition) DO UPDATE SET
      "offset" = GREATEST(p."offset", excluded."offset"),
      position = GREATEST(p.position, excluded.position),
      part = CASE WHEN (excluded.position, excluded.part) > (p.position, p.part)
             THEN excluded.part ELSE p.part END,
      updated_at = now()`;
  const storeRows = { name: `${schema}_store_consumer_positions`, text: storeText };
  const storeRowsLate = {
    name: `${schema}_store_consumer_positions_late`,
    text: `${storeText} RETURNING set_config('synchronous_commit', 'off', true)`,
  };
  const readRows = {
    name: `${schema}_read_consumer_positions`,
    text: `SELECT topic, partition, "offset", position, part FROM ${table}
           WHERE consumer = $1 AND topic = ANY($2)`,
  };
  const owner = `consumer:${consumer}`;
  const readParked = {
    name: `${schema}_read_parked_of_consumer`,
    text: `SELECT DISTINCT stream_id FROM ${schema}.parked_events
           WHERE owner = $1 AND stream_id = ANY($2)`,
  };
  const readDue = {
    name: `${schema}_read_due_of_consumer`,
    text: `SELECT topic, partition, "offset", position, part, NULL AS stream FROM ${table}
           WHERE consumer = $1 AND topic = ANY($2)
           UNION ALL
           SELECT DISTINCT NULL, NULL::int, NULL::bigint, NULL::bigint, NULL::int, stream_id
           FROM ${schema}.parked_events WHERE owner = $3 AND stream_id = ANY($4)`,
  };
  const columns = (lanes: readonly Lane[]) => [
    lanes.map(({ topic }) => topic),
    lanes.map(({ partition }) => partition),
  ];
  const movedColumns = (moved: readonly (Lane & LanePosition)[]) => [
    consumer,
    ...columns(moved),
    moved.map(({ offset }) => String(offset)),
    moved.map(({ position }) => String(position)),
    moved.map(({ part }) => part),
  ];
  return {
    lock: async (transaction, lanes, streams) => {
      const values = [consumer, ...columns(lanes)];
      const look = [
        { ...lockRows, values },
        { ...readParked, values: [owner, streams] },
      ];
      let [found, parked] = await transaction.together<[Row, { stream_id: string }]>(look);
      if (found.rows.length < lanes.length) {
        const add = { ...addRows, values };
        [, found, parked] = await transaction.together<[Row, Row, { stream_id: string }]>([
          add,
          ...look,
        ]);
      }
      return {
        seen: byLane(found.rows),
        parked: parked.rows.map(({ stream_id }) => stream_id),
      };
    },
    lockAll: async (transaction) => {
      await transaction.query(
        `SELECT FROM ${table} WHERE consumer = $1 ORDER BY topic, partition FOR UPDATE`,
        [consumer],
      );
    },
    storing: (moved) => ({ ...storeRows, values: movedColumns(moved) }),
    storeLate: async (sql, moved) => {
      await sql.query(storeRowsLate, movedColumns(moved));
    },
    read: async (sql, topics) => byLane((await sql.query<Row>(readRows, [consumer, topics])).rows),
    readDue: async (sql, topics, streams) => {
      const { rows } = await sql.query<Row & { stream: string | null }>(readDue, [
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

/** Without the lanes of single streams: their records count in their partitions. */
export const appliedOffsets = async (
  { database, schema }: { readonly database: Database; readonly schema: string },
  consumer: string,
  topics: readonly string[],
): Promise<AppliedOffsets> =>
  offsetsOf(await consumerPositions(schema, consumer).read(database.system, topics));

export const offsetsOf = (lanes: ReadonlyMap<string, LanePosition>): AppliedOffsets =>
  new Map([...lanes].map(([lane, { offset }]) => [lane, offset]));

const byLane = (rows: readonly Row[]): Map<string, LanePosition> =>
  new Map(
    rows.map((row) => [
      laneKey(row),
      { offset: BigInt(row.offset), position: BigInt(row.position), part: row.part },
    ]),
  );

import type { Database, Queryable, Transaction } from '@cardea/read-models';

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

type Row = {
  topic: string;
  partition: number;
  offset: string;
  position: string;
  part: number;
};

/** Positions of one consumer in its service's schema. */
export type ConsumerPositions = {
  /**
   * Locks the rows of these lanes until the transaction ends, so a concurrent process sees the changes of
   * this one.
   */
  lock(transaction: Transaction, lanes: readonly Lane[]): Promise<Map<string, LanePosition>>;
  /** Locks all rows of this consumer. */
  lockAll(transaction: Transaction): Promise<void>;
  store(transaction: Transaction, moved: readonly (Lane & LanePosition)[]): Promise<void>;
  read(transaction: Queryable, topics: readonly string[]): Promise<Map<string, LanePosition>>;
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
  const storeRows = {
    name: `${schema}_store_consumer_positions`,
    text: `UPDATE ${table} AS p
           SET "offset" = GREATEST(p."offset", moved."offset"), position = moved.position,
               part = moved.part, updated_at = now()
           FROM unnest($2::text[], $3::int[], $4::bigint[], $5::bigint[], $6::int[])
                AS moved(topic, partition, "offset", position, part)
           WHERE p.consumer = $1 AND p.topic = moved.topic AND p.partition = moved.partition`,
  };
  const columns = (lanes: readonly Lane[]) => [
    lanes.map(({ topic }) => topic),
    lanes.map(({ partition }) => partition),
  ];
  return {
    lock: async (transaction, lanes) => {
      const values = [consumer, ...columns(lanes)];
      const found = await transaction.query<Row>(lockRows, values);
      if (found.rows.length === lanes.length) return byLane(found.rows);
      await transaction.query(addRows, values);
      return byLane((await transaction.query<Row>(lockRows, values)).rows);
    },
    lockAll: async (transaction) => {
      await transaction.query(
        `SELECT FROM ${table} WHERE consumer = $1 ORDER BY topic, partition FOR UPDATE`,
        [consumer],
      );
    },
    store: async (transaction, moved) => {
      await transaction.query(storeRows, [
        consumer,
        ...columns(moved),
        moved.map(({ offset }) => String(offset)),
        moved.map(({ position }) => String(position)),
        moved.map(({ part }) => part),
      ]);
    },
    read: async (transaction, topics) => {
      const { rows } = await transaction.query<Row>(
        `SELECT topic, partition, "offset", position, part FROM ${table}
         WHERE consumer = $1 AND topic = ANY($2)`,
        [consumer, topics],
      );
      return byLane(rows);
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

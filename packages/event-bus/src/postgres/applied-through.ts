import { SERVICE_NAMES, topicOf } from '@cardea/contracts';
import { computed, type Database, type RowOf, selection } from '@cardea/read-models';
import { consumerPositions, laneKey, NOTHING_APPLIED } from '../consuming/consumer-positions.ts';
import type { PartitionEnds } from '../partition-ends.ts';

type Dependencies = {
  readonly database: Database;
  readonly bus: Database;
  readonly schema: string;
};
type End = { partition: number; next_offset: string };

/**
 * The position up to which everything that the relay has sent was applied. The ends are read before the
 * consumer's offsets, together with the relay's checkpoint, so the result is never too high.
 */
export const appliedThrough = async (
  { database, bus, schema }: Dependencies,
  consumer: string,
  topic: string,
): Promise<bigint> => {
  const log = SERVICE_NAMES.find((name) => topicOf(name) === topic);
  const [relayed, ends] = await bus.asSystem(async (sql) => {
    await sql.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    const checkpoint = await sql.query<{ position: string }>(
      'SELECT position FROM bus.relay_checkpoints WHERE log = $1',
      [log ?? topic],
    );
    const partitions = await sql.query<End>(
      'SELECT partition, next_offset FROM bus.partitions WHERE topic = $1',
      [topic],
    );
    return [BigInt(checkpoint.rows[0]?.position ?? 0), partitions.rows] as const;
  });
  const applied = await database.asSystem((sql) =>
    consumerPositions(schema, consumer).read(sql, [topic]),
  );
  const of = (partition: number) => applied.get(laneKey({ topic, partition })) ?? NOTHING_APPLIED;
  const unread = ends
    .filter(({ partition, next_offset }) => of(partition).offset < BigInt(next_offset) - 1n)
    .map(({ partition }) => ({ partition, offset: of(partition).offset + 1n }));
  if (unread.length > 0) return (await lowest(bus, topic, unread)) - 1n;
  const highest = [...applied.values()].map(({ position }) => position);
  return [relayed, ...highest].reduce(higher);
};

const END = selection({ topic: 'text', partition: 'integer' })
  .of('p')
  .and(computed('high', 'p.next_offset', 'bigint'))
  .and(
    computed(
      'low',
      `coalesce((
           SELECT min(r."offset") FROM bus.records AS r
           WHERE r.topic = p.topic AND r.partition = p.partition), p.next_offset)`,
      'bigint',
    ),
  );
const ENDS = {
  name: 'bus_ends',
  text: `SELECT ${END.columns}
         FROM bus.partitions AS p WHERE p.topic = ANY($1)`,
};

export const endsOf = async (
  bus: Pick<Database, 'system'>,
  topics: readonly string[],
): Promise<readonly PartitionEnds[]> => {
  const { rows } = await bus.system.query<RowOf<typeof END>>(ENDS, [topics]);
  return rows.map((row) => ({ ...row, low: BigInt(row.low), high: BigInt(row.high) }));
};

/** Records of each topic that are not applied yet. */
export const lagOf = async (
  { database, bus, schema }: Dependencies,
  consumer: string,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const ends = await bus.system.query<End & { topic: string }>(
    'SELECT topic, partition, next_offset FROM bus.partitions WHERE topic = ANY($1) AND next_offset > 0',
    [topics],
  );
  const applied = await consumerPositions(schema, consumer).read(database.system, topics);
  const lag = new Map(topics.map((topic) => [topic, 0]));
  for (const lane of ends.rows) {
    const { offset } = applied.get(laneKey(lane)) ?? NOTHING_APPLIED;
    const left = Number(BigInt(lane.next_offset) - 1n - offset);
    if (left > 0) lag.set(lane.topic, (lag.get(lane.topic) ?? 0) + left);
  }
  return lag;
};

const higher = (a: bigint, b: bigint): bigint => (a > b ? a : b);

const lowest = async (
  bus: Database,
  topic: string,
  unread: readonly { readonly partition: number; readonly offset: bigint }[],
): Promise<bigint> => {
  const { rows } = await bus.system.query<{ position: string | null }>(
    `SELECT min((r.value->>'position')::bigint) AS position
     FROM unnest($2::smallint[], $3::bigint[]) AS first(partition, "offset")
     JOIN bus.records AS r ON r.topic = $1 AND r.partition = first.partition AND r."offset" = first."offset"`,
    [topic, unread.map(({ partition }) => partition), unread.map(({ offset }) => String(offset))],
  );
  return BigInt(rows[0]?.position ?? 1);
};

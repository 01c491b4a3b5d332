/**
 * Starts a new epoch after a restore to an earlier point. The logs then assign positions again that topics
 * and consumers may know from other events. The topics therefore begin empty, and the relays send again all
 * events that some consumer may not have applied. Each consumer skips what it has applied, by its position in
 * the source's log.
 */
import { SERVICE_NAMES, type ServiceName, TOPIC_PARTITIONS, topicOf } from '@cardea/contracts';
import type { Queryable } from '@cardea/read-models';
import { NOTHING_APPLIED } from './consuming/consumer-positions.ts';

export type EpochConsumer = {
  readonly schema: string;
  readonly name: string;
  readonly topics: readonly string[];
};

export type NewEpoch = {
  readonly epoch: string;
  readonly consumers: readonly EpochConsumer[];
  /** The end of each log. EventStoreDB is backed up before the tables, so the tables may be ahead of it. */
  readonly heads: { readonly [log in ServiceName]: string };
};

/**
 * The owner role runs it in the transaction that restores the tables. The topics must be empty. Returns from where each
 * log is relayed.
 */
export async function beginEpoch(
  sql: Queryable,
  { epoch, consumers, heads }: NewEpoch,
): Promise<ReadonlyMap<ServiceName, bigint>> {
  await sql.query('UPDATE bus.log_epoch SET epoch = $1', [epoch]);
  for (const { schema } of consumers) {
    await sql.query(`UPDATE ${schema}.consumer_positions SET "offset" = $1, updated_at = now()`, [
      String(NOTHING_APPLIED.offset),
    ]);
  }
  const from = new Map<ServiceName, bigint>();
  for (const log of SERVICE_NAMES) {
    await lowerTo(sql, { log, head: heads[log], consumers });
    const position = await lowestOf(sql, topicOf(log), consumers);
    from.set(log, position);
    await sql.query(
      `UPDATE bus.relay_checkpoints SET position = least(position, $2),
         replay_from = NULL, replayed_from = NULL WHERE log = $1`,
      [log, String(position)],
    );
  }
  return from;
}

/** Lowers positions that are above the log's end. Otherwise the next appended events would be skipped. */
async function lowerTo(
  sql: Queryable,
  of: {
    readonly log: ServiceName;
    readonly head: string;
    readonly consumers: readonly EpochConsumer[];
  },
): Promise<void> {
  const { log, head, consumers } = of;
  for (const kind of ['projection', 'policy']) {
    await sql.query(
      `UPDATE ${log}.${kind}_checkpoints SET position = least(position, $1::bigint)`,
      [head],
    );
  }
  for (const { schema } of consumers) {
    await sql.query(
      `UPDATE ${schema}.consumer_positions SET position = least(position, $1::bigint)
       WHERE split_part(topic, '#', 1) = $2`,
      [head, topicOf(log)],
    );
  }
}

/**
 * The position after which every partition of the topic is sent again: that of the consumer with the least progress.
 */
async function lowestOf(
  sql: Queryable,
  topic: string,
  consumers: readonly EpochConsumer[],
): Promise<bigint> {
  const reached: bigint[] = [];
  for (const { schema, name } of consumers.filter(({ topics }) => topics.includes(topic))) {
    const { rows } = await sql.query<{ position: string }>(
      `SELECT min(coalesce(p.position, 0)) AS position
       FROM generate_series(0, $3::int - 1) AS all_of(partition)
       LEFT JOIN ${schema}.consumer_positions AS p
         ON p.consumer = $1 AND p.topic = $2 AND p.partition = all_of.partition`,
      [name, topic, TOPIC_PARTITIONS],
    );
    reached.push(BigInt(rows[0]?.position ?? 0));
  }
  const lowest = reached.reduce(lower, reached[0] ?? 0n);
  // An event may be published in several parts, of which the consumer has applied only some.
  return lowest > 0n ? lowest - 1n : 0n;
}

const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b);

import { SERVICE_NAMES, topicOf } from '@cardea/contracts';
import type { Database } from '@cardea/read-models';
import type { PartitionEnds } from '../partition-ends.ts';

/** The last replay of a topic: from where its records follow each other without a gap. */
export type TopicReplay = {
  /** The first position that was sent. */
  readonly from: bigint;
  readonly at: Date;
  /** The offset of the first record of this partition that was sent. */
  firstOffset(partition: number): bigint;
};

export async function replayOf(
  bus: Pick<Database, 'system'>,
  topic: string,
): Promise<TopicReplay | undefined> {
  type Row = { from: string; at: Date; offsets: { readonly [partition: string]: string } };
  const { rows } = await bus.system.query<Row>(
    `SELECT replayed_from AS from, replayed_at AS at, replayed_offsets AS offsets
     FROM bus.relay_checkpoints WHERE log = $1 AND replayed_from IS NOT NULL`,
    [SERVICE_NAMES.find((name) => topicOf(name) === topic) ?? topic],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    from: BigInt(row.from),
    at: row.at,
    firstOffset: (partition) => BigInt(row.offsets[partition] ?? 0),
  };
}

/**
 * The offset at which a partition continues whose next records the topic has lost. It is the first record of a replay
 * that began after the loss, at the lost position or before. Undefined until there is such a replay.
 */
export function resumptionOf(
  replay: TopicReplay | undefined,
  end: PartitionEnds,
  stored: { readonly position: bigint; readonly storedAt: Date },
): bigint | undefined {
  if (replay === undefined) return undefined;
  const first = replay.firstOffset(end.partition);
  const isLater = replay.at > stored.storedAt && replay.from <= stored.position + 1n;
  return isLater && first >= end.low && first <= end.high ? first : undefined;
}

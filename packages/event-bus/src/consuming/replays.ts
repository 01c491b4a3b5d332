import { SERVICE_NAMES, topicOf } from '@cardea/contracts';
import { type Database, jsonOf, type RowOf, selection } from '@cardea/read-models';
import type { PartitionEnds } from '../partition-ends.ts';

/** The last replay of a topic: from where its records follow each other without a gap. */
export type TopicReplay = {
  /** The first position that was sent. */
  readonly from: bigint;
  readonly at: Date;
  /** The offset of the first record of this partition that was sent. */
  firstOffset(partition: number): bigint;
};

const REPLAY = selection({
  replayed_from: 'bigint',
  replayed_at: 'timestamptz',
  replayed_offsets: jsonOf<{ readonly [partition: string]: string }>(),
});

export async function replayOf(
  bus: Pick<Database, 'system'>,
  topic: string,
): Promise<TopicReplay | undefined> {
  const { rows } = await bus.system.query<RowOf<typeof REPLAY>>(
    `SELECT ${REPLAY.columns}
     FROM bus.relay_checkpoints WHERE log = $1 AND replayed_from IS NOT NULL`,
    [SERVICE_NAMES.find((name) => topicOf(name) === topic) ?? topic],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    from: BigInt(row.replayed_from),
    at: row.replayed_at,
    firstOffset: (partition) => BigInt(row.replayed_offsets[partition] ?? 0),
  };
}

/**
 * The offset at which a partition continues after the topic has lost its next records. It is the first record of a
 * replay that began after the loss, at the lost position or before. Undefined until there is such a replay.
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

import type { Log } from '@cardea/event-store';
import { type Database, orNull, type RowOf, selection } from '@cardea/read-models';
import type { PartitionEnds } from '../partition-ends.ts';

/**
 * The position up to which a log was relayed. A database crash may lose the last update. The relay then sends again.
 */
export type RelayCheckpoint = {
  load(): Promise<{
    readonly position: bigint;
    readonly logEpoch: string;
    /** The position at which a requested replay begins. */
    readonly replayFrom: bigint | undefined;
  }>;
  /** The checkpoint never moves back. */
  save(position: bigint): Promise<void>;
  /**
   * Moves the checkpoint back to before this position, and stores the next offsets of the topic. From these offsets on
   * the topic has everything from the position on, in order. Returns the checkpoint.
   */
  beginReplay(from: bigint, ends: readonly PartitionEnds[]): Promise<bigint>;
};

/** How far the log was relayed, and from where a replay goes on. */
export const RELAYED = selection({ position: 'bigint', replay_from: orNull('bigint') });
const CHECKPOINT = RELAYED.of('c')
  .joined()
  .and(selection({ epoch: 'text' }).of('e'));

export const relayCheckpoint = (bus: Database, log: Log): RelayCheckpoint => {
  const save = {
    name: 'bus_save_relay_checkpoint',
    text: `INSERT INTO bus.relay_checkpoints AS c (log, position) VALUES ($1, $2)
           ON CONFLICT (log) DO UPDATE SET position = excluded.position, updated_at = now()
           WHERE c.position < excluded.position
           RETURNING set_config('synchronous_commit', 'off', true)`,
  };
  return {
    load: async () => {
      const { rows } = await bus.system.query<RowOf<typeof CHECKPOINT>>(
        `SELECT ${CHECKPOINT.columns} FROM bus.log_epoch AS e
         LEFT JOIN bus.relay_checkpoints AS c ON c.log = $1`,
        [log],
      );
      const [row] = rows;
      return {
        position: BigInt(row?.position ?? 0),
        logEpoch: row?.epoch ?? '',
        replayFrom: row?.replay_from == null ? undefined : BigInt(row.replay_from),
      };
    },
    save: async (position) => {
      await bus.system.query(save, [log, String(position)]);
    },
    beginReplay: async (from, ends) => {
      const before = from > 0n ? from - 1n : 0n;
      const offsets = ends.map(({ partition, high }) => [partition, String(high)]);
      const { rows } = await bus.system.query<{ position: string }>(
        `UPDATE bus.relay_checkpoints SET position = least(position, $2), replay_from = NULL,
           replayed_from = $3, replayed_at = clock_timestamp(), replayed_offsets = $4, updated_at = now()
         WHERE log = $1 RETURNING position`,
        [log, String(before), String(from), JSON.stringify(Object.fromEntries(offsets))],
      );
      return BigInt(rows[0]?.position ?? 0);
    },
  };
};

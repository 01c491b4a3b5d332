import type { Log } from '@cardea/event-store';
import type { Database } from '@cardea/read-models';

/**
 * The position up to which a log was relayed. A database crash may lose the last update: the relay then
 * sends again.
 */
export type RelayCheckpoint = {
  load(): Promise<{ readonly position: bigint; readonly logEpoch: string }>;
  /** Never moves back. */
  save(position: bigint): Promise<void>;
};

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
      const { rows } = await bus.system.query<{ position: string | null; epoch: string }>(
        `SELECT (SELECT position FROM bus.relay_checkpoints WHERE log = $1) AS position, epoch
         FROM bus.log_epoch`,
        [log],
      );
      return { position: BigInt(rows[0]?.position ?? 0), logEpoch: rows[0]?.epoch ?? '' };
    },
    save: async (position) => {
      await bus.system.query(save, [log, String(position)]);
    },
  };
};

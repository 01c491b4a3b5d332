/**
 * Tells a log's relay to publish its events again from a position on, with the same ids and positions. It is for a
 * reader that lost them or a topic that dropped them. The relay itself moves back, so the topic receives these events
 * in order, and later ones after them. A consumer that tracks positions recognizes the repeats. Parked streams stay
 * where they stopped.
 */
import type { Log } from '@cardea/event-store';
import { PARKED_CHANNEL } from '@cardea/log-follower';
import type { Database, RowOf } from '@cardea/read-models';
import { RELAYED } from './relay-checkpoint.ts';

export type Replay = {
  /** The position up to which the log was relayed when the replay was requested. */
  readonly through: bigint;
  /** The position of the relay. Undefined until the replay has begun. */
  progress(): Promise<bigint | undefined>;
};

export async function askForReplay(
  bus: Pick<Database, 'system'>,
  { log, from }: { readonly log: Log; readonly from: bigint },
): Promise<Replay> {
  const { rows } = await bus.system.query<RowOf<typeof RELAYED>>(
    `UPDATE bus.relay_checkpoints SET replay_from = least(replay_from, $2, position + 1)
     WHERE log = $1 RETURNING ${RELAYED.columns}`,
    [log, String(from)],
  );
  await bus.system.query(`SELECT pg_notify('${PARKED_CHANNEL}', $1)`, [`${log} relay:${log}`]);
  return {
    through: BigInt(rows[0]?.position ?? 0),
    progress: async () => {
      const now = await bus.system.query<RowOf<typeof RELAYED>>(
        `SELECT ${RELAYED.columns} FROM bus.relay_checkpoints WHERE log = $1`,
        [log],
      );
      const [row] = now.rows;
      return row === undefined || row.replay_from !== null ? undefined : BigInt(row.position);
    },
  };
}

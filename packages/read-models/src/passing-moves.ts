/**
 * The checkpoints of projections that passed over events of others, moved together: one statement now and
 * then for all projections of a service, where each would write as often as anything is appended.
 */
import type { Clock } from '@cardea/runtime';
import { POSITIONS_CHANNEL } from './batch-statement.ts';
import type { Database } from './database.ts';
import type { Standing } from './projector.ts';

/** How long a checkpoint may lag behind events that change nothing; only other processes wait for it. */
const MOVE_EVERY_MS = 25;

type Move = {
  readonly standing: Standing;
  readonly to: bigint;
  /** It did not move: someone else runs the projection, or the database is away. */
  readonly onLost: () => void;
};

export type PassingMoves = {
  /** Soon moves the checkpoint, and the standing with it. */
  pass(projection: string, move: Move): void;
  /** Before anyone else moves the checkpoint: nothing of this projection is under way any more. */
  settle(projection: string): Promise<void>;
};

export function passingMoves(
  database: Pick<Database, 'system'>,
  schema: string,
  clock: Clock,
): PassingMoves {
  const waiting = new Map<string, Move>();
  let scheduled = false;
  let underWay: Promise<void> | undefined;

  const schedule = (): void => {
    if (scheduled || underWay !== undefined || waiting.size === 0) return;
    scheduled = true;
    clock.after(MOVE_EVERY_MS, () => {
      scheduled = false;
      const moves = new Map(waiting);
      waiting.clear();
      if (moves.size === 0) return;
      underWay = moveAll(database, schema, moves).finally(() => {
        underWay = undefined;
        schedule();
      });
    });
  };

  return {
    pass: (projection, move) => {
      waiting.set(projection, move);
      schedule();
    },
    settle: async (projection) => {
      waiting.delete(projection);
      await underWay;
    },
  };
}

async function moveAll(
  database: Pick<Database, 'system'>,
  schema: string,
  moves: ReadonlyMap<string, Move>,
): Promise<void> {
  const all = [...moves];
  const moved = await database.system
    .query<{ name: string }>(
      {
        name: `${schema}_passing_moves`,
        text: `WITH moved AS (
            UPDATE ${schema}.projection_checkpoints c SET position = m.after, updated_at = now()
            FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS m (name, before, epoch, after)
            WHERE c.name = m.name AND c.position = m.before AND c.epoch = m.epoch
            RETURNING c.name, c.position)
          SELECT name, set_config('synchronous_commit', 'off', true),
            pg_notify('${POSITIONS_CHANNEL}', concat_ws(' ', '${schema}', name, position)) FROM moved`,
      },
      [
        all.map(([name]) => name),
        all.map(([, { standing }]) => String(standing.position)),
        all.map(([, { standing }]) => String(standing.epoch)),
        all.map(([, { to }]) => String(to)),
      ],
    )
    // Whoever reads its standing again finds out, and tells, what keeps it from there.
    .catch(() => ({ rows: [] }));
  const names = new Set(moved.rows.map(({ name }) => name));
  for (const [name, { standing, to, onLost }] of all) {
    if (names.has(name)) standing.position = to;
    else onLost();
  }
}

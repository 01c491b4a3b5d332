/**
 * A follower's progress and its parked streams: a row of `projection_checkpoints` or `policy_checkpoints` and the rows
 * of `parked_events`, which change together.
 */
import { Outage } from '@cardea/runtime';
import { type ParkedEvent, parkStep } from '../failures/parked-events.ts';
import { type Parameter, parameters, type Sql } from '../sql.ts';

/** `epoch` changes when any process other than the follower changed what it has written. */
export type Checkpoint = {
  position: bigint;
  readonly epoch: bigint;
  /** Parked streams, and the position at which each stopped. */
  readonly parked: Map<string, bigint>;
};

/** The next position of a checkpoint. */
export type CheckpointMove = { readonly checkpoint: Checkpoint; readonly to: bigint };

/** The checkpoint is not where this follower left it, because another process follows, or has repaired it. */
export class Fenced extends Outage {
  override readonly name = 'Fenced';
}

/**
 * The channel of notices. The payload `<schema> <name> <position>` means that a projection has applied its events up to
 * a position. Projections without anything to apply are listed together, as `<schema>:<name>=<position>,…`.
 */
export const positionsChannel = (schema: string): string => `cardea_positions_${schema}`;

/** Names a checkpoint: `<schema>.<kind>_checkpoints`, and `<kind>:<name>` in `parked_events`. */
export type CheckpointOf = {
  readonly schema: string;
  readonly kind: 'projection' | 'policy';
  readonly name: string;
};

export const ownerOf = ({ kind, name }: Pick<CheckpointOf, 'kind' | 'name'>): string =>
  `${kind}:${name}`;

const tableOf = ({ schema, kind }: Pick<CheckpointOf, 'schema' | 'kind'>): string =>
  `${schema}.${kind}_checkpoints`;

/** Loads the checkpoint. If it does not exist, creates one before the first event of the log. */
export async function loadCheckpoint(sql: Sql, of: CheckpointOf): Promise<Checkpoint> {
  const table = tableOf(of);
  const { rows } = await sql.query<{
    position: string;
    epoch: string;
    parked: { readonly [streamId: string]: string } | null;
  }>(
    `WITH made AS (INSERT INTO ${table} (name, position) VALUES ($1, 0) ON CONFLICT DO NOTHING)
     SELECT coalesce(max(c.position), 0) AS position, coalesce(max(c.epoch), 0) AS epoch,
       (SELECT jsonb_object_agg(p.stream_id, p.first::text) FROM (
         SELECT stream_id, min(position) AS first FROM ${of.schema}.parked_events
         WHERE owner = $2 GROUP BY stream_id) AS p) AS parked
     FROM ${table} c WHERE c.name = $1`,
    [of.name, ownerOf(of)],
  );
  const [row] = rows;
  const parked = Object.entries(row?.parked ?? {});
  return {
    position: BigInt(row?.position ?? 0),
    epoch: BigInt(row?.epoch ?? 0),
    parked: new Map(parked.map(([streamId, position]) => [streamId, BigInt(position)])),
  };
}

export type Move = CheckpointOf & {
  /** The position and epoch that the stored checkpoint must have. */
  readonly from: bigint;
  readonly epoch: bigint;
  readonly to: bigint;
  /** Whether other processes have to read this follower's state again after the move. */
  readonly newEpoch?: boolean;
};

/** A step of an SQL statement. It returns one row when the checkpoint moved, and none when it was elsewhere. */
export function moveStep(move: Move, parameter: Parameter): string {
  return `UPDATE ${tableOf(move)}
    SET position = ${parameter(String(move.to))}, epoch = epoch + ${parameter(move.newEpoch ? 1 : 0)},
      updated_at = now()
    WHERE name = ${parameter(move.name)} AND position = ${parameter(String(move.from))}
      AND epoch = ${parameter(String(move.epoch))} RETURNING 1`;
}

/** Moves the checkpoint and parks, in one statement. Throws {@link Fenced} when it is not where it was left. */
export async function moveCheckpoint(
  sql: Sql,
  { of, checkpoint }: { readonly of: CheckpointOf; readonly checkpoint: Checkpoint },
  to: bigint,
  parked: readonly ParkedEvent[],
): Promise<void> {
  const { values, parameter } = parameters();
  const move = { ...of, from: checkpoint.position, epoch: checkpoint.epoch, to };
  const moved = moveStep(move, parameter);
  const parking =
    parked.length === 0
      ? ''
      : `, parking AS (${parkStep({ ...of, owner: ownerOf(of) }, parked, parameter)})`;
  const text = `WITH moved AS (${moved})${parking} SELECT FROM moved`;
  const name = `${of.schema}_move_${of.kind}_checkpoint`;
  const { rowCount } = await sql.query(parked.length === 0 ? { name, text } : text, values);
  if (rowCount === 0) throw new Fenced(`${ownerOf(of)} of ${of.schema} stands elsewhere.`);
  checkpoint.position = to;
  for (const { streamId, position } of parked) {
    if (!checkpoint.parked.has(streamId)) checkpoint.parked.set(streamId, position);
  }
}

/**
 * Moves several checkpoints of one kind, and returns the names of those that were at the expected position. With
 * `told`, other processes are notified. Nothing waits for positions of policies.
 */
export async function moveCheckpoints(
  sql: Sql,
  of: Pick<CheckpointOf, 'schema' | 'kind'> & { readonly told?: boolean },
  moves: ReadonlyMap<string, CheckpointMove>,
): Promise<ReadonlySet<string>> {
  const all = [...moves];
  const notice = of.told
    ? `, pg_notify('${positionsChannel(of.schema)}',
          '${of.schema}:' || string_agg(concat(name, '=', position), ','))`
    : '';
  const { rows } = await sql.query<{ names: readonly string[] }>(
    {
      name: `${of.schema}_idle_${of.kind}_checkpoints${of.told ? '_told' : ''}`,
      text: `WITH moved AS (
          UPDATE ${tableOf(of)} c SET position = m.after, updated_at = now()
          FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS m (name, before, epoch, after)
          WHERE c.name = m.name AND c.position = m.before AND c.epoch = m.epoch
          RETURNING c.name, c.position)
        SELECT array_agg(name) AS names, set_config('synchronous_commit', 'off', true)${notice}
        FROM moved HAVING count(*) > 0`,
    },
    [
      all.map(([name]) => name),
      all.map(([, { checkpoint }]) => String(checkpoint.position)),
      all.map(([, { checkpoint }]) => String(checkpoint.epoch)),
      all.map(([, { to }]) => String(to)),
    ],
  );
  return new Set(rows[0]?.names);
}

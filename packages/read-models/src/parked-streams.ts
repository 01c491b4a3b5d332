/**
 * Streams that a projection could not follow. Release applies what waits, in order, once the reason is
 * mended; until then nobody sees half of it.
 */
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import { type Batch, projectionOwner } from './batch-statement.ts';
import type { Database, Queryable, Transaction } from './database.ts';
import { blamesData, errorCode, isDatabaseError } from './database-errors.ts';
import type { Projection, ProjectionTools } from './projection.ts';
import { type Mapped, Projector } from './projector.ts';

/** Notices `<schema> <owner>`: the parked streams of that owner are other ones now. */
export const PARKED_CHANNEL = 'cardea_parked';

export type ParkedStream = {
  /** `projection:<name>`, `policy:<name>` or `consumer:<name>`. */
  readonly owner: string;
  readonly streamId: string;
  readonly fromPosition: bigint;
  readonly eventType: string;
  readonly errorCode: string;
  /** The guilty event and those behind it. */
  readonly events: number;
  readonly parkedAt: Date;
};

const LISTED_MAX = 1000;
/** Times that a release starts again because more was parked meanwhile. */
const ROUNDS_MAX = 100;

export async function parkedStreams(
  database: Database,
  schema: string,
): Promise<readonly ParkedStream[]> {
  const { rows } = await database.system.query<{
    owner: string;
    stream_id: string;
    position: string;
    event_type: string;
    error_code: string | null;
    events: number;
    parked_at: Date;
  }>(
    `SELECT DISTINCT ON (owner, stream_id) owner, stream_id, position, event_type, error_code, parked_at,
       (count(*) OVER (PARTITION BY owner, stream_id))::int AS events
     FROM ${schema}.parked_events ORDER BY owner, stream_id, position LIMIT ${LISTED_MAX}`,
  );
  return rows.map((row) => ({
    owner: row.owner,
    streamId: row.stream_id,
    fromPosition: BigInt(row.position),
    eventType: row.event_type,
    errorCode: row.error_code ?? 'unknown',
    events: row.events,
    parkedAt: row.parked_at,
  }));
}

export type ReleaseOptions = {
  readonly projection: Projection;
  readonly streamId: string;
  readonly store: EventStore;
  readonly database: Database;
  readonly schema: string;
  readonly open: ProjectionTools['open'];
};

export type Released =
  | { readonly released: true; readonly events: number }
  /** The stream stays parked. */
  | { readonly released: false; readonly errorCode: string };

/**
 * Any process may ask: the checkpoint's row holds the runner off, and its epoch tells it to look again. What
 * the events come to is worked out before, for it opens keys; and again when more was parked meanwhile.
 */
export async function releaseProjectionStream(options: ReleaseOptions): Promise<Released> {
  try {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const events = await waitingEvents(options);
      if (events.length === 0) return { released: true, events: 0 };
      const { projector, mapped } = await mappedOf(options, events);
      const [poison] = mapped.poison;
      if (poison !== undefined) return { released: false, errorCode: errorCode(poison.error) };
      const released = await options.database.asSystem((sql) =>
        release(sql, options, { projector, mapped, events }),
      );
      if (released) return { released: true, events: events.length };
    }
    return { released: false, errorCode: 'still_arriving' };
  } catch (error) {
    if (!isDatabaseError(error) || blamesData(error)) {
      return { released: false, errorCode: errorCode(error) };
    }
    throw error;
  }
}

async function mappedOf(options: ReleaseOptions, events: readonly RecordedEvent[]) {
  const { projection, schema, database, open } = options;
  const tools = { open };
  const projector = new Projector({ projection, schema, database, tools, rebuilding: false });
  return { projector, mapped: await projector.map(events, new Set()) };
}

/** False when other events wait by now than those that were mapped. */
async function release(
  sql: Transaction,
  { projection, schema, streamId }: ReleaseOptions,
  of: {
    readonly projector: Projector;
    readonly mapped: Mapped;
    readonly events: readonly RecordedEvent[];
  },
): Promise<boolean> {
  const { projector, mapped, events } = of;
  const owner = projectionOwner(projection.name);
  const { rows } = await sql.query<{ position: string; epoch: string }>(
    `SELECT position, epoch FROM ${schema}.projection_checkpoints WHERE name = $1 FOR UPDATE`,
    [projection.name],
  );
  const [standing] = rows;
  if (standing === undefined) throw new Error('A stream is parked of a projection that never ran.');
  const waiting = await waitingPositions(sql, { schema, owner, streamId });
  const isMapped = (position: string): boolean =>
    events.some((event) => event.position.toString() === position);
  if (waiting.length !== events.length || !waiting.every(isMapped)) return false;
  const batch: Batch = {
    schema,
    name: projection.name,
    from: BigInt(standing.position),
    to: BigInt(standing.position),
    epoch: BigInt(standing.epoch),
    newEpoch: true,
    changes: mapped.changes,
    parked: [],
  };
  await projector.writeIn(sql, batch, mapped.applied);
  await sql.query(`DELETE FROM ${schema}.parked_events WHERE owner = $1 AND stream_id = $2`, [
    owner,
    streamId,
  ]);
  await sql.query(`SELECT pg_notify('${PARKED_CHANNEL}', $1)`, [`${schema} ${owner}`]);
  return true;
}

async function waitingEvents(options: ReleaseOptions): Promise<readonly RecordedEvent[]> {
  const { database, schema, streamId } = options;
  const owner = projectionOwner(options.projection.name);
  const waiting = await waitingPositions(database.system, { schema, owner, streamId });
  if (waiting.length === 0) return [];
  const events = await options.store.readStream(streamId);
  return events.filter((event) => waiting.includes(event.position.toString()));
}

async function waitingPositions(
  sql: Queryable,
  { schema, owner, streamId }: { [part in 'schema' | 'owner' | 'streamId']: string },
): Promise<readonly string[]> {
  const { rows } = await sql.query<{ position: string }>(
    `SELECT position FROM ${schema}.parked_events WHERE owner = $1 AND stream_id = $2`,
    [owner, streamId],
  );
  return rows.map(({ position }) => position);
}

/**
 * Forgets what waits of a stream, whoever parked it; answers how many events. Their effects never come
 * about; the runner looks again at once, and what comes next is applied on top of what there is.
 */
export function discardParkedStream(
  database: Database,
  of: { readonly schema: string; readonly owner: string; readonly streamId: string },
): Promise<number> {
  const { schema, owner, streamId } = of;
  const [kind = '', name = ''] = owner.split(':');
  return database.asSystem(async (sql) => {
    if (kind === 'projection' || kind === 'policy') {
      await sql.query(
        `UPDATE ${schema}.${kind}_checkpoints SET epoch = epoch + 1 WHERE name = $1`,
        [name],
      );
    }
    const { rowCount } = await sql.query(
      `DELETE FROM ${schema}.parked_events WHERE owner = $1 AND stream_id = $2`,
      [owner, streamId],
    );
    await sql.query(`SELECT pg_notify('${PARKED_CHANNEL}', $1)`, [`${schema} ${owner}`]);
    return rowCount;
  });
}

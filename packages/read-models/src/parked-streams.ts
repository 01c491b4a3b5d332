/**
 * Streams that a projection could not follow. Release applies what waits, in order, once the reason is
 * mended; until then nobody sees half of it.
 */
import type { EventStore, RecordedEvent } from '@cardea/event-store';
import { type Batch, projectionOwner } from './batch-statement.ts';
import type { Database, Transaction } from './database.ts';
import { blamesData, errorCode, isDatabaseError } from './database-errors.ts';
import type { Projection, ProjectionTools } from './projection.ts';
import { Projector } from './projector.ts';

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

/** Any process may ask: the checkpoint's row holds the runner off, and its epoch tells it to look again. */
export async function releaseProjectionStream(options: ReleaseOptions): Promise<Released> {
  try {
    return await options.database.asSystem((sql) => release(sql, options));
  } catch (error) {
    if (error instanceof StillPoison) return { released: false, errorCode: error.code };
    if (!isDatabaseError(error) || blamesData(error)) {
      return { released: false, errorCode: errorCode(error) };
    }
    throw error;
  }
}

/** Rolls the release back. */
class StillPoison extends Error {
  readonly code: string;
  constructor(code: string) {
    super('The stream cannot be applied yet.');
    this.code = code;
  }
}

async function release(sql: Transaction, options: ReleaseOptions): Promise<Released> {
  const { projection, schema, database, streamId, open } = options;
  const owner = projectionOwner(projection.name);
  const { rows } = await sql.query<{ position: string; epoch: string }>(
    `SELECT position, epoch FROM ${schema}.projection_checkpoints WHERE name = $1 FOR UPDATE`,
    [projection.name],
  );
  const [standing] = rows;
  const events = await waitingEvents(sql, options);
  if (standing === undefined || events.length === 0) return { released: true, events: 0 };
  const projector = new Projector({
    projection,
    schema,
    database,
    tools: { open },
    rebuilding: false,
  });
  const mapped = await projector.map(events, new Set());
  const [poison] = mapped.poison;
  if (poison !== undefined) throw new StillPoison(errorCode(poison.error));
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
  return { released: true, events: events.length };
}

async function waitingEvents(
  sql: Transaction,
  options: ReleaseOptions,
): Promise<readonly RecordedEvent[]> {
  const { rows } = await sql.query<{ position: string }>(
    `SELECT position FROM ${options.schema}.parked_events
     WHERE owner = $1 AND stream_id = $2 ORDER BY position`,
    [projectionOwner(options.projection.name), options.streamId],
  );
  const waiting = new Set(rows.map((row) => row.position));
  const events = await options.store.readStream(options.streamId);
  return events.filter((event) => waiting.has(event.position.toString()));
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

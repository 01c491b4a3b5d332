/**
 * Parked streams: the event that could not be applied and the later ones of its stream, by owner
 * (`projection:<name>`, `policy:<name>`, `relay:<log>`, `consumer:<name>`), in the table `parked_events` of
 * each service.
 */
import { type EventStore, type RecordedEvent, streamPages } from '@cardea/event-store';
import { type Parameter, parameters, type Sql, type SqlDatabase } from '../sql.ts';

/** The channel of notices `<schema> <owner>`: the parked streams of that owner have changed. */
export const PARKED_CHANNEL = 'cardea_parked';

export type ParkedEvent = {
  readonly streamId: string;
  readonly position: bigint;
  readonly eventId: string;
  readonly eventType: string;
  /** The error code of the event that failed. Null for the events after it. */
  readonly errorCode: string | null;
  /** The whole event, if it cannot be read again from a log. */
  readonly event?: object;
};

export const parkedEvent = (event: RecordedEvent, errorCode: string | null): ParkedEvent => ({
  streamId: event.streamId,
  position: event.position,
  eventId: event.id,
  eventType: event.type,
  errorCode,
});

export type ParkedOwner = { readonly schema: string; readonly owner: string };

/** A step of an SQL statement whose step `moved` moves the checkpoint. */
export const parkStep = (
  of: ParkedOwner,
  events: readonly ParkedEvent[],
  parameter: Parameter,
): string => insertInto(of, events, parameter, 'WHERE EXISTS (SELECT FROM moved)');

/** Events that are parked already stay unchanged. */
export async function park(
  sql: Sql,
  of: ParkedOwner,
  events: readonly ParkedEvent[],
): Promise<void> {
  const { values, parameter } = parameters();
  await sql.query(insertInto(of, events, parameter), values);
}

function insertInto(
  { schema, owner }: ParkedOwner,
  events: readonly ParkedEvent[],
  parameter: Parameter,
  where = '',
): string {
  const column = (type: string, of: (event: ParkedEvent) => unknown): string =>
    `${parameter(events.map(of))}::${type}[]`;
  return `INSERT INTO ${schema}.parked_events
      (owner, stream_id, position, event_id, event_type, error_code, event)
    SELECT ${parameter(owner)}::text, u.* FROM unnest(
      ${column('text', ({ streamId }) => streamId)},
      ${column('bigint', ({ position }) => String(position))},
      ${column('uuid', ({ eventId }) => eventId)},
      ${column('text', ({ eventType }) => eventType)},
      ${column('text', ({ errorCode }) => errorCode)},
      ${column('jsonb', ({ event }) => (event === undefined ? null : JSON.stringify(event)))}
    ) AS u ${where} ON CONFLICT DO NOTHING`;
}

/** The parked streams, with the position at which each stopped: only those in `among`, or all. */
export async function parkedPositions(
  sql: Sql,
  { schema, owner }: ParkedOwner,
  among?: readonly string[],
): Promise<Map<string, bigint>> {
  const some = among === undefined ? '' : 'AND stream_id = ANY($2)';
  const { rows } = await sql.query<{ stream_id: string; position: string }>(
    {
      name: `${schema}_parked${among === undefined ? '' : '_among'}`,
      text: `SELECT stream_id, min(position) AS position FROM ${schema}.parked_events
             WHERE owner = $1 ${some} GROUP BY stream_id ORDER BY stream_id`,
    },
    among === undefined ? [owner] : [owner, among],
  );
  return new Map(rows.map((row) => [row.stream_id, BigInt(row.position)]));
}

export type ParkedStreamOf = ParkedOwner & { readonly streamId: string };

/** The parked events of a stream, read from its log, in order. */
export async function waitingEvents(
  sql: Sql,
  of: ParkedStreamOf,
  store: Pick<EventStore, 'log' | 'readLog' | 'readStream'>,
): Promise<readonly RecordedEvent[]> {
  const positions = await waitingPositions(sql, of);
  const lowest = (await parkedPositions(sql, of, [of.streamId])).get(of.streamId);
  if (lowest === undefined) return [];
  const [first] = await store.readLog(store.log, lowest - 1n, 1);
  if (first === undefined) return [];
  const events: RecordedEvent[] = [];
  for await (const page of streamPages(store, of.streamId, first.revision)) {
    events.push(...page.filter(({ position }) => positions.has(String(position))));
    if (events.length === positions.size) break;
  }
  return events;
}

export async function waitingPositions(
  sql: Sql,
  { schema, owner, streamId }: ParkedStreamOf,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ position: string }>(
    `SELECT position FROM ${schema}.parked_events WHERE owner = $1 AND stream_id = $2`,
    [owner, streamId],
  );
  return new Set(rows.map(({ position }) => position));
}

/** Deletes a stream's parked events and notifies the follower. Returns their number. */
export async function unpark(
  sql: Sql,
  { schema, owner, streamId }: ParkedStreamOf,
): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM ${schema}.parked_events WHERE owner = $1 AND stream_id = $2`,
    [owner, streamId],
  );
  await sql.query(`SELECT pg_notify('${PARKED_CHANNEL}', $1)`, [`${schema} ${owner}`]);
  return rowCount;
}

/**
 * Deletes a stream's parked events of any owner. Returns their number. They never take effect. The follower is notified
 * at once and applies later events to the state as it is.
 */
export function discardParkedStream(database: SqlDatabase, of: ParkedStreamOf): Promise<number> {
  const [kind = '', name = ''] = of.owner.split(':');
  return database.asSystem(async (sql) => {
    if (kind === 'projection' || kind === 'policy') {
      await sql.query(
        `UPDATE ${of.schema}.${kind}_checkpoints SET epoch = epoch + 1 WHERE name = $1`,
        [name],
      );
    }
    return await unpark(sql, of);
  });
}

export type ParkedStream = {
  readonly owner: string;
  readonly streamId: string;
  readonly fromPosition: bigint;
  readonly eventType: string;
  readonly errorCode: string;
  /** The event that failed and the later ones. */
  readonly events: number;
  readonly parkedAt: Date;
};

/** The result of a release. */
export type Released =
  | { readonly released: true; readonly events: number }
  /** The stream stays parked. */
  | { readonly released: false; readonly errorCode: string };

const LISTED_MAX = 1000;

export async function parkedStreams(
  database: SqlDatabase,
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

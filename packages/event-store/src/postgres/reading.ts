import { setImmediate as nextTurn } from 'node:timers/promises';
import { computed, type RowOf, selection } from '@cardea/postgres';
import type { QueryConfig, QueryResultRow } from 'pg';
import {
  EventStoreOverloaded,
  EventStoreUnavailable,
  type Log,
  type RecordedEvent,
  type StreamRead,
} from '../event-store.ts';
import { STREAM_PAGE_EVENTS, STREAM_TAIL_EVENTS } from '../states/stream-pages.ts';
import { int2Array, int8Array, textArray } from './binary.ts';
import type { Connection } from './connection.ts';
import { LOG_NUMBERS } from './log-number.ts';

/** Reads of streams in one query. */
const READS_MAX = 512;
/** Reads that wait in this process. More are refused at once. */
const QUEUE_READS_MAX = 4096;

export type EventRow = {
  readonly n: number;
  readonly position: string;
  readonly stream_id: string;
  readonly revision: string;
  readonly event_id: string;
  readonly type: string;
  readonly schema_version: number;
  readonly time: Date;
  readonly data: RecordedEvent['data'];
  readonly metadata: RecordedEvent['metadata'];
};

/** These values replace the first revision to read. */
const LAST_ALONE = 0;
const TAIL = -1;

const COLUMNS =
  'e.position, e.stream_id, e.revision, e.event_id, e.type, e.schema_version, e.time, e.data, e.metadata';

const STREAMS = {
  name: 'read-streams',
  text: `SELECT r.n::integer AS n, ${COLUMNS}
    FROM unnest($1::smallint[], $2::text[], $3::bigint[]) WITH ORDINALITY AS r (log, stream_id, first, n)
   CROSS JOIN LATERAL (
     SELECT * FROM eventstore.events e
      WHERE e.log = r.log AND e.stream_id = r.stream_id AND e.revision >= r.first
      ORDER BY e.revision LIMIT ${STREAM_PAGE_EVENTS}) e
   WHERE r.first > ${LAST_ALONE}
  UNION ALL
  SELECT r.n::integer AS n, ${COLUMNS}
    FROM unnest($1::smallint[], $2::text[], $3::bigint[]) WITH ORDINALITY AS r (log, stream_id, first, n)
   CROSS JOIN LATERAL (
     SELECT * FROM eventstore.events e
      WHERE e.log = r.log AND e.stream_id = r.stream_id
      ORDER BY e.revision DESC LIMIT 1) e
   WHERE r.first = ${LAST_ALONE}
  UNION ALL
  SELECT r.n::integer AS n, ${COLUMNS}
    FROM unnest($1::smallint[], $2::text[], $3::bigint[]) WITH ORDINALITY AS r (log, stream_id, first, n)
   CROSS JOIN LATERAL (
     SELECT * FROM eventstore.events e
      WHERE e.log = r.log AND e.stream_id = r.stream_id
      ORDER BY e.revision DESC LIMIT ${STREAM_TAIL_EVENTS}) e
   WHERE r.first = ${TAIL}`,
};

const LOG = {
  name: 'read-log',
  text: `SELECT ${COLUMNS} FROM eventstore.events e
    WHERE e.log = $1 AND e.position > $2 ORDER BY e.position LIMIT $3`,
};

/**
 * `end_of_log` returns the end of another service's log only to roles that may know it. For other roles such a log
 * looks empty.
 */
const HEAD = selection({ log: 'smallint' })
  .of('l')
  .and(
    computed(
      'position',
      `coalesce(eventstore.end_of_log(l.log),
      (SELECT max(e.position) FROM eventstore.events e WHERE e.log = l.log), 0)`,
      'bigint',
    ),
  );
const HEADS = {
  name: 'heads',
  text: `SELECT ${HEAD.columns}
    FROM unnest($1::smallint[]) AS l (log)`,
};

type Asked = StreamRead & {
  readonly log: Log;
  readonly resolve: (events: readonly RecordedEvent[]) => void;
  readonly reject: (error: unknown) => void;
};

/** Reads of streams that are requested while a query runs share the next one. */
export function streamReader(connection: Connection) {
  const queue: Asked[] = [];
  let busy = false;

  const run = async () => {
    while (queue.length > 0) {
      await nextTurn(); // Waits a turn, so that callers whose read has just resolved can join with their next one.
      const batch = queue.splice(0, READS_MAX);
      await readBatch(connection, batch);
    }
    busy = false;
  };

  return (log: Log, read: StreamRead): Promise<readonly RecordedEvent[]> =>
    new Promise((resolve, reject) => {
      if (queue.length >= QUEUE_READS_MAX) {
        reject(new EventStoreOverloaded('too many reads of streams wait'));
        return;
      }
      queue.push({ ...read, log, resolve, reject });
      if (!busy) {
        busy = true;
        void run();
      }
    });
}

/** Settles every read. If one of them makes the whole batch fail, it is found by sending each separately. */
async function readBatch(connection: Connection, batch: readonly Asked[]): Promise<void> {
  try {
    const found = await readStreams(connection, batch);
    for (const [index, each] of batch.entries()) each.resolve(found[index] ?? []);
  } catch (error) {
    if (batch.length === 1 || error instanceof EventStoreUnavailable) {
      for (const each of batch) each.reject(error);
      return;
    }
    for (const each of batch) await readBatch(connection, [each]);
  }
}

async function readStreams(
  connection: Connection,
  asked: readonly Asked[],
): Promise<readonly (readonly RecordedEvent[])[]> {
  const values = [
    int2Array(asked.map(({ log }) => LOG_NUMBERS[log])),
    textArray(asked.map(({ streamId }) => streamId)),
    int8Array(asked.map(({ from }) => firstOf(from))),
  ];
  const rows = await again(() => connection.query<EventRow>({ ...STREAMS, values }));
  const found: RecordedEvent[][] = asked.map(() => []);
  for (const row of rows) {
    const log = asked[row.n - 1]?.log;
    if (log !== undefined) found[row.n - 1]?.push(recorded(log, row));
  }
  for (const [index, { from }] of asked.entries()) if (from === 'tail') found[index]?.reverse();
  return found;
}

const firstOf = (from: StreamRead['from']): number => {
  if (from === 'last') return LAST_ALONE;
  return from === 'tail' ? TAIL : Math.max(from, 1);
};

/** Reads of whole logs, one at a time. */
export function logReader(connection: Connection) {
  return {
    readLog: async (log: Log, after: bigint, limit: number): Promise<readonly RecordedEvent[]> => {
      const values = [LOG_NUMBERS[log], after.toString(), limit];
      const rows = await again(() => connection.query<EventRow>({ ...LOG, values }));
      return rows.map((row) => recorded(log, row));
    },
    heads: async (logs: readonly Log[]): Promise<ReadonlyMap<Log, bigint>> => {
      const values = [logs.map((log) => LOG_NUMBERS[log])];
      const rows = await again(() => connection.query<RowOf<typeof HEAD>>({ ...HEADS, values }));
      const heads = new Map(rows.map(({ log, position }) => [log, BigInt(position)]));
      return new Map(logs.map((log) => [log, heads.get(LOG_NUMBERS[log]) ?? 0n]));
    },
  };
}

/** Runs one query after another, in order of arrival, because the driver needs the response of one before the next. */
export function inTurn(connection: Connection): Connection {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...connection,
    query: async <Row extends QueryResultRow>(query: QueryConfig) => {
      if (waiting >= QUEUE_READS_MAX) throw new EventStoreOverloaded('too many reads wait');
      waiting += 1;
      const mine = last
        .then(() => connection.query<Row>(query))
        .finally(() => {
          waiting -= 1;
        });
      last = mine.catch(() => {}); // The caller gets the error.
      return await mine;
    },
  };
}

/** A read is tried once more, because a restarted server may have closed the connection unnoticed. */
async function again<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable)) throw error;
    return await read();
  }
}

function recorded(log: Log, row: EventRow): RecordedEvent {
  return {
    log,
    streamId: row.stream_id,
    revision: Number(row.revision),
    position: BigInt(row.position),
    id: row.event_id,
    type: row.type,
    schemaVersion: row.schema_version,
    time: row.time,
    data: row.data,
    metadata: row.metadata,
  };
}

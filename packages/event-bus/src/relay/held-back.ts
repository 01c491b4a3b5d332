import type { Log, RecordedEvent } from '@cardea/event-store';
import type { Database } from '@cardea/read-models';

/**
 * Streams whose next event the relay could not map. Only where a stream stopped is kept: what follows is
 * read from the log again when it goes on.
 */
export type HeldBack = {
  /** Stream and the position at which it stopped. */
  list(): Promise<ReadonlyMap<string, bigint>>;
  /** Durable when it resolves; a stream that is held back already keeps its place. */
  hold(event: RecordedEvent, errorCode: string): Promise<void>;
  /** The stream goes on, or, with an event, stops there now. */
  release(streamId: string, stopsAt?: { event: RecordedEvent; errorCode: string }): Promise<void>;
};

export const heldBack = (database: Database, schema: string, log: Log): HeldBack => {
  const table = `${schema}.parked_events`;
  const owner = `relay:${log}`;
  const insert = `INSERT INTO ${table} (owner, stream_id, position, event_id, event_type, error_code)
                  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`;
  const values = (event: RecordedEvent, errorCode: string) => [
    owner,
    event.streamId,
    String(event.position),
    event.id,
    event.type,
    errorCode,
  ];
  return {
    list: async () => {
      const { rows } = await database.system.query<{ stream_id: string; position: string }>(
        `SELECT stream_id, min(position) AS position FROM ${table} WHERE owner = $1 GROUP BY stream_id`,
        [owner],
      );
      return new Map(rows.map((row) => [row.stream_id, BigInt(row.position)]));
    },
    hold: async (event, errorCode) => {
      await database.system.query(insert, values(event, errorCode));
    },
    release: (streamId, stopsAt) =>
      database.asSystem(async (sql) => {
        await sql.query(`DELETE FROM ${table} WHERE owner = $1 AND stream_id = $2`, [
          owner,
          streamId,
        ]);
        if (stopsAt !== undefined)
          await sql.query(insert, values(stopsAt.event, stopsAt.errorCode));
      }),
  };
};

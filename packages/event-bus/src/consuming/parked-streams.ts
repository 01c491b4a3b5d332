import type { IntegrationEvent } from '@cardea/contracts';
import type { Transaction } from '@cardea/read-models';
import { keyOf } from '../partition.ts';

/**
 * Streams that wait because one of their events could not be applied. The event and whatever follows it
 * in its stream are kept here whole, for the topic forgets them after a week.
 */
export type ParkedStreams = {
  /** Which of these streams wait. */
  among(transaction: Transaction, streams: readonly string[]): Promise<Set<string>>;
  park(
    transaction: Transaction,
    events: readonly { readonly event: IntegrationEvent; readonly errorCode: string | null }[],
  ): Promise<void>;
  /** The first events of a stream that waits, in order. */
  waiting(
    transaction: Transaction,
    stream: string,
    limit: number,
  ): Promise<readonly IntegrationEvent[]>;
  forget(transaction: Transaction, events: readonly IntegrationEvent[]): Promise<void>;
  /** Every stream that waits. */
  list(transaction: Transaction): Promise<readonly string[]>;
};

/** A stream among all topics and tenants. */
export const streamName = (event: IntegrationEvent): string => `${event.source}/${keyOf(event)}`;

export const parkedStreams = (schema: string, owner: string): ParkedStreams => {
  const table = `${schema}.parked_events`;
  const among = {
    name: `${schema}_parked_among`,
    text: `SELECT DISTINCT stream_id FROM ${table} WHERE owner = $1 AND stream_id = ANY($2)`,
  };
  return {
    among: async (transaction, streams) => {
      const { rows } = await transaction.query<{ stream_id: string }>(among, [owner, streams]);
      return new Set(rows.map(({ stream_id }) => stream_id));
    },
    park: async (transaction, events) => {
      await transaction.query(
        `INSERT INTO ${table} (owner, stream_id, position, event_id, event_type, error_code, event)
         SELECT $1, each.* FROM unnest($2::text[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::jsonb[])
                AS each(stream_id, position, event_id, event_type, error_code, event)
         ON CONFLICT DO NOTHING`,
        [
          owner,
          events.map(({ event }) => streamName(event)),
          events.map(({ event }) => event.position),
          events.map(({ event }) => event.id),
          events.map(({ event }) => event.type),
          events.map(({ errorCode }) => errorCode),
          events.map(({ event }) => JSON.stringify(event)),
        ],
      );
    },
    waiting: async (transaction, stream, limit) => {
      const { rows } = await transaction.query<{ event: IntegrationEvent }>(
        `SELECT event FROM ${table} WHERE owner = $1 AND stream_id = $2
         ORDER BY position, coalesce((event->>'part')::int, 0) LIMIT $3 FOR UPDATE`,
        [owner, stream, limit],
      );
      return rows.map(({ event }) => event);
    },
    forget: async (transaction, events) => {
      await transaction.query(
        `DELETE FROM ${table} USING unnest($2::text[], $3::uuid[]) AS done(stream_id, event_id)
         WHERE owner = $1 AND ${table}.stream_id = done.stream_id AND ${table}.event_id = done.event_id`,
        [owner, events.map(streamName), events.map(({ id }) => id)],
      );
    },
    list: async (transaction) => {
      const { rows } = await transaction.query<{ stream_id: string }>(
        `SELECT DISTINCT stream_id FROM ${table} WHERE owner = $1 ORDER BY 1`,
        [owner],
      );
      return rows.map(({ stream_id }) => stream_id);
    },
  };
};

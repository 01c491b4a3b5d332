import type { IntegrationEvent } from '@cardea/contracts';
import type { ParkedEvent, ParkedOwner } from '@cardea/log-follower';
import type { Transaction } from '@cardea/read-models';
import { keyOf } from '../partition.ts';

/**
 * The events of a consumer's parked streams. They are stored completely, because the topic keeps records for a week
 * only.
 */
export const waitingEvent = (event: IntegrationEvent, errorCode: string | null): ParkedEvent => ({
  streamId: streamName(event),
  position: BigInt(event.position),
  eventId: event.id,
  eventType: event.type,
  errorCode,
  event,
});

/** A stream's name, which is unique over all topics and tenants. */
export const streamName = (event: IntegrationEvent): string => `${event.source}/${keyOf(event)}`;

/** The first events of a parked stream, in order. */
export async function firstWaiting(
  transaction: Transaction,
  { schema, owner }: ParkedOwner,
  stream: string,
  limit: number,
): Promise<readonly IntegrationEvent[]> {
  const { rows } = await transaction.query<{ event: IntegrationEvent }>(
    `SELECT event FROM ${schema}.parked_events WHERE owner = $1 AND stream_id = $2
     ORDER BY position, coalesce((event->>'part')::int, 0) LIMIT $3 FOR UPDATE`,
    [owner, stream, limit],
  );
  return rows.map(({ event }) => event);
}

export async function forgetWaiting(
  transaction: Transaction,
  { schema, owner }: ParkedOwner,
  events: readonly IntegrationEvent[],
): Promise<void> {
  await transaction.query(
    `DELETE FROM ${schema}.parked_events AS p
     USING unnest($2::text[], $3::uuid[]) AS done(stream_id, event_id)
     WHERE owner = $1 AND p.stream_id = done.stream_id AND p.event_id = done.event_id`,
    [owner, events.map(streamName), events.map(({ id }) => id)],
  );
}

import type { RecordedEvent } from '@cardea/event-store';
import { park, parkedEvent, parkedPositions, unpark } from '@cardea/log-follower';
import { errorCode } from '@cardea/runtime';
import type { RelayDefinition } from '../bus.ts';
import { NotPublishable } from './integration-events-of.ts';
import type { RelayDependencies } from './relay-dependencies.ts';

/**
 * The positions at which a relay's parked streams stopped. Their later events are read from the log again.
 */
export type ParkedPlaces = {
  /** Streams and the positions at which they stopped. */
  positions(): Promise<Map<string, bigint>>;
  /** Durable when it resolves. A stream that is parked already keeps its position. */
  park(event: RecordedEvent, error: unknown): Promise<void>;
  /** Ends the parking of a stream. With an event, moves its stop there instead. */
  move(streamId: string, stopsAt: Stop | undefined): Promise<void>;
};
export type Stop = { readonly event: RecordedEvent; readonly error: unknown };

export const parkedPlaces = (
  definition: RelayDefinition,
  { database, schema, log }: RelayDependencies,
): ParkedPlaces => {
  const of = { schema, owner: `relay:${definition.log}` };
  const placeOf = ({ event, error }: Stop) => parkedEvent(event, errorCode(error));
  return {
    positions: () => parkedPositions(database.system, of),
    park: async (event, error) => {
      await park(database.system, of, [placeOf({ event, error })]);
      const { position, type, schemaVersion } = event;
      const faults = error instanceof NotPublishable ? error.message : undefined;
      const code = errorCode(error);
      log.error(
        { relay: event.log, type, schemaVersion, position: String(position), code, faults },
        'an event could not be published, its stream is parked',
      );
    },
    move: (streamId, stopsAt) =>
      database.asSystem(async (sql) => {
        await unpark(sql, { ...of, streamId });
        if (stopsAt !== undefined) await park(sql, of, [placeOf(stopsAt)]);
      }),
  };
};

import type { IntegrationEvent } from '@cardea/contracts';
import { topicOf } from '@cardea/contracts';
import type { RecordedEvent } from '@cardea/event-store';
import {
  type Batch,
  type Checkpoint,
  errorCode,
  type IdleCheckpoints,
  isOutage,
  park,
  parkedEvent,
  parkedPositions,
  type Sink,
  unpark,
} from '@cardea/log-follower';
import { failpoint, span } from '@cardea/runtime';
import type { RelayDefinition } from '../bus.ts';
import {
  integrationEventsOf,
  NotPublishable,
  type OpenedContexts,
} from './integration-events-of.ts';
import type { PositionNote } from './position-note.ts';
import type { RelayCheckpoint } from './relay-checkpoint.ts';
import type { RelayDependencies } from './relay-dependencies.ts';

type Outgoing = readonly IntegrationEvent[];
type MapEvent = ReturnType<typeof integrationEventsOf>;

export type RelaySinkDependencies = {
  readonly definition: RelayDefinition;
  readonly needs: RelayDependencies;
  readonly stored: RelayCheckpoint;
  readonly idle: IdleCheckpoints;
  readonly note: PositionNote;
};

/**
 * The relay as a sink of its log. A batch is mapped while the previous one is being sent, and the
 * checkpoint of the previous one is stored while this one is sent, or together with it where topics and
 * checkpoint stand in one database, so a crash repeats events and never skips any. Of a parked stream only the position is stored at which it stopped: its later events are read
 * from the log again.
 */
export function relaySink({
  definition,
  needs,
  stored,
  idle,
  note,
}: RelaySinkDependencies): Sink<Outgoing> {
  const topic = topicOf(definition.log);
  const parked = parkedPlaces(definition, needs);
  let mapEvent: MapEvent = async () => [];
  let storing: Promise<void> = Promise.resolve();
  let relayed = 0n;

  const send = async (
    { events, prepared, through, isFull }: Batch<Outgoing>,
    checkpoint: Checkpoint,
  ): Promise<void> => {
    const { publisher } = needs;
    const moves = { log: definition.log, position: through };
    const publish = () =>
      publisher.publishThrough?.(topic, prepared, moves) ?? publisher.publish(topic, prepared);
    await span('relay', publish, {
      attributes: { topic, events: prepared.length },
      links: prepared.map(({ traceparent }) => traceparent),
    });
    await failpoint('relay.after_publish');
    checkpoint.position = through;
    await failpoint('relay.before_checkpoint');
    if (publisher.publishThrough === undefined) {
      await storing;
      storing = stored.save(through);
      storing.catch(() => {}); // the next batch gets the error
      if (!isFull) await storing;
    }
    const oldestMs = needs.clock.now().getTime() - (events[0]?.time.getTime() ?? 0);
    needs.counted?.({ topic, read: events.length, published: prepared.length, oldestMs });
  };

  return {
    load: async () => {
      const { position, logEpoch } = await stored.load();
      mapEvent = integrationEventsOf({ ...needs, map: definition.map, logEpoch });
      const checkpoint = { position, epoch: 0n, parked: await parked.positions() };
      await retryParked(checkpoint, { needs, topic, parked, mapEvent });
      return checkpoint;
    },
    prepare: async (events, checkpoint) => {
      if (events.length > 0) await failpoint('relay.after_read');
      return await mapAll(events, checkpoint, { mapEvent, park: parked.park });
    },
    changes: async (batch, checkpoint) =>
      batch.prepared.length === 0 ? undefined : () => send(batch, checkpoint),
    idle,
    moved: (position) => {
      relayed = position;
      note.write(position);
    },
    // Written each time, because the cache may have lost its content.
    atEnd: () => note.write(relayed),
    settle: async () => {
      await storing.catch(() => {}); // on failure the batch is sent again
      storing = Promise.resolve();
    },
  };
}

/** In order. An event that cannot be mapped parks its stream, durably, before any later event is sent. */
async function mapAll(
  events: readonly RecordedEvent[],
  { parked }: Checkpoint,
  by: { readonly mapEvent: MapEvent; readonly park: ParkedPlaces['park'] },
): Promise<Outgoing> {
  const outgoing: IntegrationEvent[] = [];
  const contexts: OpenedContexts = new Map();
  for (const event of events) {
    // Events before the stop may still be unsent: the process may have crashed in between.
    const stoppedAt = parked.get(event.streamId);
    if (stoppedAt !== undefined && event.position >= stoppedAt) continue;
    try {
      outgoing.push(...(await by.mapEvent(event, contexts)));
    } catch (error) {
      if (isOutage(error)) throw error;
      await by.park(event, error);
      parked.set(event.streamId, event.position);
    }
  }
  return outgoing;
}

type ParkedPlaces = {
  /** Streams and the positions at which they stopped. */
  positions(): Promise<Map<string, bigint>>;
  /** Durable when it resolves; a stream that is parked already keeps its position. */
  park(event: RecordedEvent, error: unknown): Promise<void>;
  /** Ends the parking of a stream or, with an event, moves its stop there. */
  move(streamId: string, stopsAt: Stop | undefined): Promise<void>;
};
type Stop = { readonly event: RecordedEvent; readonly error: unknown };

const parkedPlaces = (
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

type Retrying = {
  readonly needs: RelayDependencies;
  readonly topic: string;
  readonly parked: ParkedPlaces;
  readonly mapEvent: MapEvent;
};

/**
 * Sends the events of parked streams as far as they can be mapped now, marked as released so that consumers
 * do not take them for repeats.
 */
async function retryParked(checkpoint: Checkpoint, by: Retrying): Promise<void> {
  for (const [streamId, from] of [...checkpoint.parked]) {
    // A crash set the checkpoint back before this stop: wait until it has passed it again, because
    // consumers would take events that are sent unmarked for repeats.
    if (from > checkpoint.position) continue;
    const waiting = (await by.needs.store.readStream(streamId)).filter(
      ({ position }) => position >= from && position <= checkpoint.position,
    );
    const { outgoing, stopsAt } = await mapUntilStop(waiting, by.mapEvent);
    if (stopsAt?.event.position === from) continue;
    const released = outgoing.map((event) => ({ ...event, released: true as const }));
    await by.needs.publisher.publish(by.topic, released);
    await by.parked.move(streamId, stopsAt);
    if (stopsAt === undefined) checkpoint.parked.delete(streamId);
    else checkpoint.parked.set(streamId, stopsAt.event.position);
  }
}

async function mapUntilStop(
  events: readonly RecordedEvent[],
  mapEvent: MapEvent,
): Promise<{ readonly outgoing: Outgoing; readonly stopsAt?: Stop }> {
  const outgoing: IntegrationEvent[] = [];
  for (const event of events) {
    try {
      outgoing.push(...(await mapEvent(event)));
    } catch (error) {
      if (isOutage(error)) throw error;
      return { outgoing, stopsAt: { event, error } };
    }
  }
  return { outgoing };
}

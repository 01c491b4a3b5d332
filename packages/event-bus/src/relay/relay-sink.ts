import type { IntegrationEvent } from '@cardea/contracts';
import { topicOf } from '@cardea/contracts';
import type { RecordedEvent } from '@cardea/event-store';
import {
  asOutage,
  type Batch,
  type Checkpoint,
  type IdleCheckpoints,
  type Sink,
} from '@cardea/log-follower';
import { failpoint, span } from '@cardea/runtime';
import type { RelayDefinition } from '../bus.ts';
import { integrationEventsOf, type OpenedContexts } from './integration-events-of.ts';
import { parkedPlaces } from './parked-places.ts';
import type { PositionNote } from './position-note.ts';
import type { RelayCheckpoint } from './relay-checkpoint.ts';
import type { RelayDependencies } from './relay-dependencies.ts';
import { retryParked } from './retry-parked.ts';

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
 * The relay as a sink of its log. A batch is mapped while the previous one is being sent. The previous checkpoint is
 * stored while this batch is sent, or together with it if topics and checkpoint are in one database. So a crash repeats
 * events and never skips any. For a parked stream only the position at which it stopped is stored; its later events are
 * read from the log again.
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
      links: () => prepared.map(({ traceparent }) => traceparent),
    });
    // The topic has the events, so later failures are not caused by any of them.
    await asOutage(async () => {
      await failpoint('relay.after_publish');
      checkpoint.position = through;
      await failpoint('relay.before_checkpoint');
      if (publisher.publishThrough === undefined) await store(through, !isFull);
      const oldestMs = needs.clock.now().getTime() - (events[0]?.time.getTime() ?? 0);
      needs.counted?.({ topic, read: events.length, published: prepared.length, oldestMs });
    });
  };
  /** A failure that is not awaited is thrown by the next call. */
  const store = async (position: bigint, isAwaited: boolean): Promise<void> => {
    await storing;
    storing = stored.save(position);
    storing.catch(() => {});
    if (isAwaited) await storing;
  };

  return {
    load: async () => {
      const { position: last, logEpoch, replayFrom } = await stored.load();
      const position =
        replayFrom === undefined
          ? last
          : await stored.beginReplay(replayFrom, await needs.publisher.ends(topic));
      mapEvent = integrationEventsOf({ ...needs, map: definition.map, logEpoch });
      const checkpoint = { position, epoch: 0n, parked: await parked.positions() };
      await retryParked(checkpoint, { needs, topic, parked, mapEvent });
      return checkpoint;
    },
    prepare: async (events, checkpoint) => {
      if (events.length > 0) await failpoint('relay.after_read');
      return await mapAll(events, checkpoint, mapEvent);
    },
    apply: async (batch, checkpoint) => {
      if (batch.prepared.length === 0) return false;
      await send(batch, checkpoint);
      return true;
    },
    setAside: async (event, error, checkpoint) => {
      await parked.park(event, error);
      checkpoint.position = event.position;
      await asOutage(() => store(event.position, true));
    },
    idle,
    moved: (position) => {
      relayed = position;
      note.write(position);
    },
    // Written each time, because the cache may have lost its content.
    atEnd: () => note.write(relayed),
    settle: async () => {
      await storing.catch(() => {}); // After a failure the batch is sent again.
      storing = Promise.resolve();
    },
  };
}

/** Maps in order, without the events of parked streams. */
async function mapAll(
  events: readonly RecordedEvent[],
  { parked }: Checkpoint,
  mapEvent: MapEvent,
): Promise<Outgoing> {
  const outgoing: IntegrationEvent[] = [];
  const contexts: OpenedContexts = new Map();
  for (const event of events) {
    // Events before the stop may still be unsent, because the process may have crashed in between.
    const stoppedAt = parked.get(event.streamId);
    if (stoppedAt !== undefined && event.position >= stoppedAt) continue;
    outgoing.push(...(await mapEvent(event, contexts)));
  }
  return outgoing;
}

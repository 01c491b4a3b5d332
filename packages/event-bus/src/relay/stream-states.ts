/**
 * Caches the states of the streams whose events a relay maps, so that an event is applied to the state before it
 * instead of folding the whole stream.
 */
import {
  type AnyStream,
  type EventStore,
  type RecordedEvent,
  type Snapshot,
  stateThrough,
} from '@cardea/event-store';

const STATES_MAX = 1000;

export type StreamStates = {
  /** The state of the event's stream, up to and including this event. */
  stateAt(stream: AnyStream, event: RecordedEvent): Promise<unknown>;
};

type Kept = { readonly stream: AnyStream; readonly snapshot: Snapshot<unknown> };

export const streamStates = (store: Pick<EventStore, 'readStream'>): StreamStates => {
  const kept = new Map<string, Kept>();
  return {
    stateAt: async (stream, event) => {
      const known = kept.get(event.streamId);
      const before = known?.stream === stream ? known.snapshot : undefined;
      const snapshot = await stateThrough(store, stream, event, before);
      if (snapshot === undefined) throw new Error(`stream ${event.streamId} lacks its event`);
      kept.delete(event.streamId);
      kept.set(event.streamId, { stream, snapshot });
      const [oldest] = kept.keys();
      if (kept.size > STATES_MAX && oldest !== undefined) kept.delete(oldest);
      return snapshot.state;
    },
  };
};

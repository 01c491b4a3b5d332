/**
 * A snapshot cache: the states of users, tenants and the like with their revision, so that a load reads
 * only newer events.
 */
import {
  type DomainEvent,
  type EventStore,
  type Stream,
  stateAfter,
  streamIdOf,
} from '@cardea/event-store';
import QuickLRU from 'quick-lru';

const CACHED_STREAMS_MAX = 10_000;

type Kept = { readonly state: unknown; readonly revision: number; readonly tenantId: string };

export type SnapshotCache = {
  /** Another tenant's stream counts as unknown and loads as the initial state. */
  readonly load: <State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ) => Promise<State>;
  /** For ids that are unique in the deployment; the result says which tenant the stream belongs to. */
  readonly find: <State, E extends DomainEvent>(
    stream: Stream<State, E>,
    id: string,
  ) => Promise<{ readonly state: State; readonly tenantId: string } | undefined>;
};

export function snapshotCache(store: Pick<EventStore, 'readStream'>): SnapshotCache {
  const kept = new QuickLRU<string, Kept>({ maxSize: CACHED_STREAMS_MAX });
  const find: SnapshotCache['find'] = async <State, E extends DomainEvent>(
    stream: Stream<State, E>,
    id: string,
  ) => {
    const streamId = streamIdOf(stream, id);
    const before = kept.get(streamId);
    const later = await store.readStream(streamId, (before?.revision ?? 0) + 1);
    const tenantId = before?.tenantId ?? later[0]?.metadata.tenantId;
    if (tenantId === undefined) return undefined;
    const state = stateAfter(stream, later, before?.state as State | undefined);
    const revision = later.at(-1)?.revision ?? before?.revision ?? 0;
    if (later.length > 0) kept.set(streamId, { state, revision, tenantId });
    return { state, tenantId };
  };
  return {
    find,
    load: async (stream, { tenantId, id }) => {
      const found = await find(stream, id);
      return found?.tenantId === tenantId ? found.state : stream.initial;
    },
  };
}

/**
 * Users, tenants and their like as they stand, with what was folded before kept: a load reads only the
 * events that came since.
 */
import {
  type DomainEvent,
  type EventStore,
  type Stream,
  streamIdOf,
  upcastTo,
} from '@cardea/event-store';
import QuickLRU from 'quick-lru';

const FOLDED_STREAMS_MAX = 10_000;

type Kept = { readonly state: unknown; readonly revision: number; readonly tenantId: string };

export type Folded = {
  /** Another tenant's stream is an unknown one: its initial state. */
  readonly load: <State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ) => Promise<State>;
};

export function folded(store: Pick<EventStore, 'readStream'>): Folded {
  const kept = new QuickLRU<string, Kept>({ maxSize: FOLDED_STREAMS_MAX });
  return {
    load: async <State, E extends DomainEvent>(
      stream: Stream<State, E>,
      { tenantId, id }: { readonly tenantId: string; readonly id: string },
    ) => {
      const streamId = streamIdOf(stream, id);
      const before = kept.get(streamId);
      const later = await store.readStream(streamId, (before?.revision ?? 0) + 1);
      const owner = before?.tenantId ?? later[0]?.metadata.tenantId;
      if (owner === undefined) return stream.initial;
      const state = later.reduce(
        (past, event) => stream.evolve(past, upcastTo(stream, event) as unknown as E),
        before === undefined ? stream.initial : (before.state as State),
      );
      const revision = later.at(-1)?.revision ?? before?.revision ?? 0;
      if (later.length > 0) kept.set(streamId, { state, revision, tenantId: owner });
      return owner === tenantId ? state : stream.initial;
    },
  };
}

/** The current states of users, tenants and the like: the cache of streams saves all but the newer events. */
import type { DomainEvent, Stream, Streams } from '@cardea/event-store';

export type SnapshotCache = {
  /** Another tenant's stream counts as unknown and loads as the initial state. */
  readonly load: <State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ) => Promise<State>;
  /** For ids that are unique in the deployment; the result says which tenant the stream belongs to. */
  readonly find: Streams['find'];
  readonly guess: Streams['guess'];
};

export const snapshotCache = (
  streams: Pick<Streams, 'load' | 'find' | 'guess'>,
): SnapshotCache => ({
  find: streams.find,
  guess: streams.guess,
  load: async (stream, of) => (await streams.load(stream, of)).state,
});

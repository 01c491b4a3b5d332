/** The current states of users, tenants and other streams. Because streams are cached, only newer events are read. */
import type { DomainEvent, Stream, Streams } from '@cardea/event-store';

export type SnapshotCache = {
  /** A stream of another tenant counts as unknown and loads as the initial state. */
  readonly load: <State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ) => Promise<State>;
  /** Loads by an id that is unique in the deployment. The result names the stream's tenant. */
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

/** The streams on which one try of a command is decided: its own, and the others that the decision depends on. */
import type { Command } from './command.ts';
import {
  type Decision,
  type DomainEvent,
  type EventStore,
  type RecordedEvent,
  type Stream,
  streamIdOf,
} from './event-store.ts';
import { stateFrom } from './states/folding.ts';
import {
  firstRead,
  type NamedStream,
  ofTenant,
  type Snapshot,
  type SnapshotCache,
  snapshotsOf,
} from './states/snapshots.ts';

export type Task<State, E extends DomainEvent, Reason extends string> = {
  readonly stream: Stream<State, E>;
  readonly streamId: string;
  readonly command: Command;
  readonly decide: (
    state: State,
    revision: number,
    basis: readonly unknown[],
  ) => Decision<E, Reason>;
  /** Other streams on whose states the decision depends. The append is refused when one of them has changed. */
  readonly restsOn?: readonly NamedStream[];
  /** Whether the stream most likely does not exist yet. */
  readonly isNew?: boolean;
};

export type DecideDependencies = { readonly store: EventStore; readonly snapshots: SnapshotCache };

/** The basis of a decision that depends on its own stream only. */
export const NO_BASIS = { assumed: false, states: [], restsOn: [] };

/**
 * The streams on which the decision depends. They come from the cache if they are in it and nothing has to be fresh.
 */
export async function basisOf<State, E extends DomainEvent, Reason extends string>(
  needs: DecideDependencies,
  { restsOn = [], command }: Task<State, E, Reason>,
  fresh: boolean,
) {
  const { store, snapshots } = needs;
  const cached = restsOn.map(({ stream, id }) =>
    fresh ? undefined : snapshots.get(store.log, streamIdOf(stream, id), stream),
  );
  const missing = restsOn.filter((_, index) => cached[index] === undefined);
  const read = missing.length === 0 ? [] : await snapshotsOf(needs, missing);
  const inOrder = read.values();
  const found = cached.map((snapshot) => snapshot ?? inOrder.next().value);
  return {
    assumed: cached.some((snapshot) => snapshot !== undefined),
    states: restsOn.map(
      ({ stream }, index) => ofTenant(stream, found[index], command.metadata.tenantId).state,
    ),
    restsOn: restsOn.map(({ stream, id }, index) => ({
      streamId: streamIdOf(stream, id),
      revision: found[index]?.revision ?? 0,
    })),
  };
}

/** The current stream, and the last events of it that were read. */
export type Past = {
  readonly before: Snapshot<unknown> | undefined;
  readonly events: readonly RecordedEvent[];
};

/** Reads the current stream. */
export async function readPast<State, E extends DomainEvent, Reason extends string>(
  { store, snapshots }: DecideDependencies,
  { stream, streamId, command }: Task<State, E, Reason>,
): Promise<Past> {
  const [events = []] = await store.readStreams([firstRead(stream, streamId, undefined)]);
  const before = await stateFrom(store, { stream, streamId }, events, undefined);
  // A stream of another tenant counts as one that does not exist.
  if (before?.tenantId !== command.metadata.tenantId) return { before: undefined, events: [] };
  snapshots.put(store.log, streamId, stream, before);
  return { before, events };
}

/** Returns no events if the stream belongs to another tenant. */
export const ownedBy = (tenantId: string, events: readonly RecordedEvent[]) =>
  events[0]?.metadata.tenantId === tenantId ? events : [];

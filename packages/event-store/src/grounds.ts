/** What a try of a command is decided on: its own stream, and the others that the decision rests on. */
import type { Command } from './command.ts';
import type { Decision } from './decision.ts';
import {
  type DomainEvent,
  type EventStore,
  type RecordedEvent,
  type Stream,
  streamIdOf,
} from './event-store.ts';
import { stateAfter } from './handlers.ts';
import {
  type Loaded,
  type NamedStream,
  ofTenant,
  type SnapshotCache,
  snapshotsOf,
} from './snapshots.ts';

export type Task<State, E extends DomainEvent, Reason extends string> = {
  readonly stream: Stream<State, E>;
  readonly streamId: string;
  readonly command: Command;
  readonly decide: (
    state: State,
    revision: number,
    basis: readonly unknown[],
  ) => Decision<E, Reason>;
  /** Streams whose states the decision rests on too; the append is refused when one of them has changed. */
  readonly restsOn?: readonly NamedStream[];
  /** The stream most likely does not exist yet. */
  readonly isNew?: boolean;
};

export type DecideDependencies = { readonly store: EventStore; readonly snapshots: SnapshotCache };

/** A state that was not read now, and that an append at its revision proves. */
export function assumptionOf<State, E extends DomainEvent, Reason extends string>(
  { store, snapshots }: DecideDependencies,
  { stream, streamId, command, isNew }: Task<State, E, Reason>,
): Loaded<State> | undefined {
  const cached = snapshots.get(store.log, streamId, stream);
  if (cached === undefined) return isNew ? { state: stream.initial, revision: 0 } : undefined;
  const { tenantId } = command.metadata;
  return cached.tenantId === tenantId ? ofTenant(stream, cached, tenantId) : undefined;
}

/** The streams that the decision rests on: from the cache where they are in it, and nothing is to be fresh. */
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

/** The stream as it is now: whole, since an earlier event may show that the command was carried out before. */
export async function readPast<State, E extends DomainEvent, Reason extends string>(
  { store, snapshots }: DecideDependencies,
  { stream, streamId, command }: Task<State, E, Reason>,
): Promise<readonly RecordedEvent[]> {
  const { tenantId } = command.metadata;
  const from = stream.stateCarrying ? 'last' : 1;
  const [read = []] = await store.readStreams([{ streamId, from }]);
  const past = ownedBy(tenantId, read);
  if (past.length > 0)
    snapshots.put(store.log, streamId, stream, { ...replayed(stream, past), tenantId });
  return past;
}

/** No events where the stream belongs to another tenant: it reads as one that does not exist. */
export const ownedBy = (tenantId: string, events: readonly RecordedEvent[]) =>
  events[0]?.metadata.tenantId === tenantId ? events : [];

export function replayed<State, E extends DomainEvent>(
  stream: Stream<State, E>,
  past: readonly RecordedEvent[],
): Loaded<State> {
  const events = stream.stateCarrying ? past.slice(-1) : past;
  return { state: stateAfter(stream, events), revision: past.at(-1)?.revision ?? 0 };
}

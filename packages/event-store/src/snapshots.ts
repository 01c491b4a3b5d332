/**
 * The states of streams that this process has recently read or appended to, each with its revision. A
 * cached state never replaces a read by itself: a load still reads the later events, and a decision on a
 * cached state counts only when its append proves that nothing came later.
 */
import { expiringCache, systemClock } from '@cardea/runtime';
import {
  type EventStore,
  type Log,
  type RecordedEvent,
  type StreamRead,
  streamIdOf,
} from './event-store.ts';
import { stateAfter } from './handlers.ts';

/** Streams of all logs of the process together. */
const CACHED_STREAMS_MAX = 10_000;
/** Longer than access tokens live by default, for that is how long a session rests between two refreshes. */
const CACHED_MS = 1_200_000;

/** A loaded stream: its state, and the revision that decisions are based on. */
export type Loaded<State> = {
  readonly state: State;
  /** 0 when it does not exist, or belongs to another tenant. */
  readonly revision: number;
};

/** A stream that exists, whose tenant is that of its events. */
export type Snapshot<State> = Loaded<State> & { readonly tenantId: string };

type Evolve = AnyStream['evolve'];

/** One for all logs of a process. */
export interface SnapshotCache {
  /** Only a state that the same `evolve` has made. */
  get(log: Log, streamId: string, by: { readonly evolve: Evolve }): Snapshot<unknown> | undefined;
  /** Ignored when a later state is cached. */
  put(
    log: Log,
    streamId: string,
    by: { readonly evolve: Evolve },
    snapshot: Snapshot<unknown>,
  ): void;
  drop(log: Log, streamId: string): void;
}

export function snapshotCache(): SnapshotCache {
  const kept = expiringCache<string, Snapshot<unknown> & { evolve: Evolve }>(systemClock, {
    entriesMax: CACHED_STREAMS_MAX,
    ttlMs: CACHED_MS,
  });
  const keyOf = (log: Log, streamId: string) => `${log} ${streamId}`;
  return {
    get: (log, streamId, { evolve }) => {
      const found = kept.get(keyOf(log, streamId));
      return found?.evolve === evolve ? found : undefined;
    },
    put: (log, streamId, { evolve }, { state, revision, tenantId }) => {
      const key = keyOf(log, streamId);
      if ((kept.get(key)?.revision ?? 0) > revision) return;
      kept.set(key, { state, revision, tenantId, evolve });
    },
    drop: (log, streamId) => kept.delete(keyOf(log, streamId)),
  };
}

/** Any stream, where only its state matters. */
export type AnyStream = {
  readonly noun: string;
  readonly initial: unknown;
  readonly evolve: (state: never, event: never) => unknown;
  readonly stateCarrying?: boolean;
};
export type NamedStream = { readonly stream: AnyStream; readonly id: string };
/** Streams of the command's tenant, by the names that the decision gives them. */
export type Basis = { readonly [name: string]: NamedStream | undefined };
export type BasisStates<B extends Basis> = {
  readonly [Name in keyof B]: undefined extends B[Name]
    ? NonNullable<B[Name]>['stream']['initial'] | undefined
    : NonNullable<B[Name]>['stream']['initial'];
};

/** The streams as they are now, read in one call; of a cached one only the later events. */
export async function snapshotsOf(
  { store, snapshots }: { readonly store: EventStore; readonly snapshots: SnapshotCache },
  named: readonly NamedStream[],
): Promise<readonly (Snapshot<unknown> | undefined)[]> {
  const asked = named.map(({ stream, id }) => {
    const streamId = streamIdOf(stream, id);
    const before = snapshots.get(store.log, streamId, stream);
    const from = stream.stateCarrying ? 'last' : (before?.revision ?? 0) + 1;
    return { stream, before, read: { streamId, from } satisfies StreamRead };
  });
  const found = await store.readStreams(asked.map(({ read }) => read));
  return asked.map(({ stream, before, read: { streamId } }, index) => {
    const snapshot = snapshotAfter(stream, found[index] ?? [], before);
    if (snapshot !== undefined) snapshots.put(store.log, streamId, stream, snapshot);
    return snapshot;
  });
}

function snapshotAfter(
  stream: AnyStream,
  events: readonly RecordedEvent[],
  before: Snapshot<unknown> | undefined,
): Snapshot<unknown> | undefined {
  const last = events.at(-1);
  if (last === undefined || last.revision === before?.revision) return before;
  const { evolve, initial, stateCarrying } = stream as AnyStream & {
    readonly evolve: (state: unknown, event: object) => unknown;
  };
  const from = stateCarrying ? initial : (before?.state ?? initial);
  return {
    state: stateAfter({ initial, evolve }, events, from),
    revision: last.revision,
    tenantId: before?.tenantId ?? last.metadata.tenantId,
  };
}

/** A stream of another tenant loads as one that does not exist. */
export const ofTenant = <State>(
  stream: { readonly initial: State },
  snapshot: Snapshot<unknown> | undefined,
  tenantId: string,
): Loaded<State> =>
  snapshot?.tenantId === tenantId
    ? { state: snapshot.state as State, revision: snapshot.revision }
    : { state: stream.initial, revision: 0 };

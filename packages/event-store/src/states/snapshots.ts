/**
 * The states of streams that this process has recently read or appended to, each with its revision. A cached state
 * never replaces a read by itself: a load still reads the later events, and a decision on a cached state counts only
 * when its append proves that nothing came later.
 */
import { expiringCache, systemClock } from '@cardea/runtime';
import { type EventStore, type Log, type StreamRead, streamIdOf } from '../event-store.ts';
import { stateFrom } from './folding.ts';
import type { AnyStream, Loaded, Snapshot } from './stream-states.ts';

/** The most cached streams, over all logs of the process. */
const CACHED_STREAMS_MAX = 10_000;
/** Longer than the default lifetime of access tokens, which is how long a session is idle between two refreshes. */
const CACHED_MS = 1_200_000;

export type { AnyStream, Loaded, Snapshot };

type Evolve = AnyStream['evolve'];

/** One cache for all logs of a process. */
export interface SnapshotCache {
  /** Returns only a state that the same `evolve` has made. */
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
    put: (log, streamId, { evolve }, { state, revision, tenantId, storedAt }) => {
      const key = keyOf(log, streamId);
      if ((kept.get(key)?.revision ?? 0) > revision) return;
      kept.set(key, { state, revision, tenantId, storedAt, evolve });
    },
    drop: (log, streamId) => kept.delete(keyOf(log, streamId)),
  };
}

export type NamedStream = { readonly stream: AnyStream; readonly id: string };
/** Streams that a decision reads, all of the command's tenant. The decision uses them by these names. */
export type Basis = { readonly [name: string]: NamedStream | undefined };
export type BasisStates<B extends Basis> = {
  readonly [Name in keyof B]: undefined extends B[Name]
    ? NonNullable<B[Name]>['stream']['initial'] | undefined
    : NonNullable<B[Name]>['stream']['initial'];
};

/** Reads the current streams in one call. For a cached one it reads only the later events. */
export async function snapshotsOf(
  { store, snapshots }: { readonly store: EventStore; readonly snapshots: SnapshotCache },
  named: readonly NamedStream[],
): Promise<readonly (Snapshot<unknown> | undefined)[]> {
  const asked = named.map(({ stream, id }) => {
    const streamId = streamIdOf(stream, id);
    const before = snapshots.get(store.log, streamId, stream);
    return { stream, before, read: firstRead(stream, streamId, before) };
  });
  const found = await store.readStreams(asked.map(({ read }) => read));
  return await Promise.all(
    asked.map(async ({ stream, before, read: { streamId } }, index) => {
      const snapshot = await stateFrom(store, { stream, streamId }, found[index] ?? [], before);
      if (snapshot !== undefined) snapshots.put(store.log, streamId, stream, snapshot);
      return snapshot;
    }),
  );
}

/** The read for a stream without a cached state: its last events, because one of them may contain its state. */
export const firstRead = (
  { stateCarrying }: AnyStream,
  streamId: string,
  before: { readonly revision: number } | undefined,
): StreamRead => {
  if (stateCarrying) return { streamId, from: 'last' };
  return { streamId, from: before === undefined ? 'tail' : before.revision + 1 };
};

/** A stream of another tenant loads as one that does not exist. */
export const ofTenant = <State>(
  stream: { readonly initial: State },
  snapshot: Snapshot<unknown> | undefined,
  tenantId: string,
): Loaded<State> =>
  snapshot?.tenantId === tenantId
    ? { state: snapshot.state as State, revision: snapshot.revision }
    : { state: stream.initial, revision: 0 };

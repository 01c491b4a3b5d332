/**
 * One try of a command: load the stream, decide, append at the loaded revision. A first try may take the
 * state from the cache, or assume that a stream is new: its append proves it. A decision that appends
 * nothing proves nothing, so it is made again on what was read.
 */
import type { JsonObject } from '@cardea/contracts';
import { currentTraceparent, metrics, span } from '@cardea/runtime';
import type { Command, Decided, Loaded } from './command.ts';
import type { Decision } from './decision.ts';
import { eventId } from './event-id.ts';
import {
  type Append,
  type AppendOutcome,
  type DomainEvent,
  EventIdTaken,
  type EventMetadata,
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  type Stream,
} from './event-store.ts';
import { stateAfter } from './handlers.ts';
import { ofTenant, type SnapshotCache } from './snapshots.ts';
import { versionOf } from './upcasting.ts';

export type Task<State, E extends DomainEvent, Reason extends string> = {
  readonly stream: Stream<State, E>;
  readonly streamId: string;
  readonly command: Command;
  readonly decide: (state: State, revision: number) => Decision<E, Reason>;
  /** The caller has just read it; when it is no longer the last event, the append meets a conflict. */
  readonly last?: RecordedEvent;
  /** The stream most likely does not exist yet. */
  readonly isNew?: boolean;
};

export type Attempting = { readonly store: EventStore; readonly snapshots: SnapshotCache };

/** `conflict`: another writer was faster. `assumed`: the try rested on what was not read; read and decide again. */
export type NotDecided = 'conflict' | 'assumed';

/** The result of a command before its append, which is left to the caller. */
type Planned<State, E extends DomainEvent, Reason extends string> = {
  readonly decision: Decision<E, Reason>;
  readonly before: Loaded<State>;
  readonly append: Append;
  readonly assumed: boolean;
};

/** One command on one stream, appended by itself. With `fresh` nothing is assumed. */
export async function attempt<State, E extends DomainEvent, Reason extends string>(
  needs: Attempting,
  task: Task<State, E, Reason>,
  fresh: boolean,
): Promise<Decided<State, E, Reason> | NotDecided> {
  const planned = await plan(needs, task, fresh);
  if (planned === 'assumed' || !('append' in planned)) return planned;
  const [outcome] = await unlessTaken(needs.store, [planned.append], [planned]);
  return await concluded(needs, { task, planned, outcome });
}

/** Many commands in one batch, each on a stream of its own. */
export async function attemptMany<State, E extends DomainEvent, Reason extends string>(
  needs: Attempting,
  tasks: readonly Task<State, E, Reason>[],
): Promise<readonly (Decided<State, E, Reason> | NotDecided)[]> {
  const plans = await Promise.all(
    tasks.map((task) =>
      // Each command has its own cause, so none of them belongs to the trace of the caller that batches
      // them.
      span(`command ${task.stream.noun}`, () => plan(needs, task, false), {
        attributes: { command: task.stream.noun },
        parent: task.command.metadata.traceparent ?? currentTraceparent(),
      }),
    ),
  );
  const toAppend = plans.filter((planned) => typeof planned === 'object' && 'append' in planned);
  const appends = toAppend.map(({ append }) => append);
  const outcomes = appends.length === 0 ? [] : await unlessTaken(needs.store, appends, toAppend);
  const inOrder = outcomes.values();
  return await Promise.all(
    tasks.map((task, index) => {
      const planned = plans[index];
      if (planned === undefined) throw new Error('a command without a plan');
      if (planned === 'assumed' || !('append' in planned)) return planned;
      return concluded(needs, { task, planned, outcome: inOrder.next().value });
    }),
  );
}

async function plan<State, E extends DomainEvent, Reason extends string>(
  needs: Attempting,
  task: Task<State, E, Reason>,
  fresh: boolean,
): Promise<Planned<State, E, Reason> | Decided<State, E, Reason> | 'assumed'> {
  const { stream, streamId, command, decide } = task;
  const firstId = eventId(command.id, streamId, 0);
  const assumption = fresh ? undefined : assumptionOf(needs, task);
  const past = assumption === undefined ? await readPast(needs, task) : [];
  const seen = past.some((event) => event.id === firstId);
  const repeat = seen ? await repeatOf(needs, task) : undefined;
  if (repeat !== undefined) return repeat;

  const before = assumption ?? replayed(stream, past);
  const decision = decide(before.state, before.revision);
  const assumed = assumption !== undefined;
  if (decision.events.length === 0) {
    if (assumed) return 'assumed';
    return { ...decision, ...before, position: undefined, repeated: false };
  }
  if (seen) throw commandReused(task);
  const events = decision.events.map((event, index) =>
    newEvent(task, event, index === 0 ? firstId : eventId(command.id, streamId, index)),
  );
  return { decision, before, append: { streamId, expected: before.revision, events }, assumed };
}

/** A state that was not read now, and that an append at its revision proves. */
function assumptionOf<State, E extends DomainEvent, Reason extends string>(
  { store, snapshots }: Attempting,
  { stream, streamId, command, last, isNew }: Task<State, E, Reason>,
): Loaded<State> | undefined {
  if (last !== undefined) return undefined;
  const cached = snapshots.get(store.log, streamId);
  if (cached === undefined) return isNew ? { state: stream.initial, revision: 0 } : undefined;
  const { tenantId } = command.metadata;
  return cached.tenantId === tenantId ? ofTenant(stream, cached, tenantId) : undefined;
}

const appended = (store: EventStore, appends: readonly Append[]) =>
  span('append', () => timed(store.append(appends)), {
    attributes: {
      log: store.log,
      events: appends.reduce((sum, { events }) => sum + events.length, 0),
    },
  });

/** No outcomes where ids are taken: on an assumed state, a command that comes again may make other events. */
async function unlessTaken(
  store: EventStore,
  appends: readonly Append[],
  planned: readonly { readonly assumed: boolean }[],
): Promise<readonly AppendOutcome[]> {
  try {
    return await appended(store, appends);
  } catch (error) {
    if (error instanceof EventIdTaken && planned.some(({ assumed }) => assumed)) return [];
    throw error;
  }
}

async function concluded<State, E extends DomainEvent, Reason extends string>(
  needs: Attempting,
  of: {
    readonly task: Task<State, E, Reason>;
    readonly planned: Planned<State, E, Reason>;
    readonly outcome: AppendOutcome | undefined;
  },
): Promise<Decided<State, E, Reason> | NotDecided> {
  const { task, planned, outcome } = of;
  const { stream, streamId, command } = task;
  const { decision, before, assumed } = planned;
  const { store, snapshots } = needs;
  if (outcome === undefined || !outcome.appended) {
    snapshots.drop(store.log, streamId);
    return assumed ? 'assumed' : 'conflict';
  }
  if (outcome.repeated) {
    const earlier = await repeatOf(needs, task);
    if (earlier === undefined) throw commandReused(task);
    return earlier;
  }
  const state = stream.stateCarrying
    ? decision.events.slice(-1).reduce(stream.evolve, stream.initial)
    : decision.events.reduce(stream.evolve, before.state);
  const { revision, position } = outcome;
  snapshots.put(store.log, streamId, { state, revision, tenantId: command.metadata.tenantId });
  return { ...decision, state, revision, position, repeated: false };
}

async function timed<T>(appending: Promise<T>): Promise<T> {
  const stop = metrics.appendDuration.startTimer();
  try {
    return await appending;
  } finally {
    stop();
  }
}

/**
 * The command was carried out before: returns the decision of that time and the current state. Undefined
 * when deciding again yields other events: then it is another command under the same id.
 */
async function repeatOf<State, E extends DomainEvent, Reason extends string>(
  { store }: Attempting,
  { stream, streamId, command, decide }: Task<State, E, Reason>,
): Promise<Decided<State, E, Reason> | undefined> {
  const all = ownedBy(command.metadata.tenantId, await store.readStream(streamId));
  const start = all.findIndex((event) => event.id === eventId(command.id, streamId, 0));
  if (start === -1) return undefined;
  const then = replayed(stream, all.slice(0, start));
  const decision = decide(then.state, then.revision);
  const recorded = all.slice(start, start + decision.events.length).map((event, index) => {
    const ours = event.id === eventId(command.id, streamId, index);
    return ours ? { type: event.type, data: event.data } : undefined;
  });
  const same =
    decision.events.length > 0 &&
    decision.events.every((event, index) => event.type === recorded[index]?.type) &&
    all[start + decision.events.length]?.id !==
      eventId(command.id, streamId, decision.events.length);
  if (!same) return undefined;
  return {
    ...decision,
    events: recorded as readonly DomainEvent[] as readonly E[],
    ...replayed(stream, all),
    position: all[start + decision.events.length - 1]?.position,
    repeated: true,
  };
}

/** The stream as it is now: whole, since an earlier event may show that the command was carried out before. */
async function readPast<State, E extends DomainEvent, Reason extends string>(
  { store, snapshots }: Attempting,
  { stream, streamId, command, last }: Task<State, E, Reason>,
): Promise<readonly RecordedEvent[]> {
  const { tenantId } = command.metadata;
  if (last !== undefined) return ownedBy(tenantId, [last]);
  const from = stream.stateCarrying ? 'last' : 1;
  const [read = []] = await store.readStreams([{ streamId, from }]);
  const past = ownedBy(tenantId, read);
  if (past.length > 0) snapshots.put(store.log, streamId, { ...replayed(stream, past), tenantId });
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

function newEvent<State, E extends DomainEvent, Reason extends string>(
  { stream, command }: Task<State, E, Reason>,
  event: E,
  id: string,
): NewEvent {
  return {
    id,
    type: event.type,
    schemaVersion: versionOf(stream, event.type),
    time: command.now,
    data: event.data as JsonObject,
    metadata: traced(command.metadata),
  };
}

/** The command's own span is the direct cause of its events. */
const traced = (metadata: EventMetadata): EventMetadata => {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? metadata : { ...metadata, traceparent };
};

const commandReused = (task: { readonly streamId: string; readonly command: Command }) =>
  new Error(
    `command ${task.command.id} already made other events on ${task.streamId}; a second command needs an id of its own`,
  );

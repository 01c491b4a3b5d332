/**
 * One try of a command: load the stream, decide, append at the loaded revision. A first try may take the
 * state from the cache, or assume that a stream is new: its append proves it. A decision that appends
 * nothing proves nothing, so it is made again on what was read.
 */
import type { JsonObject } from '@cardea/contracts';
import { currentTraceparent, metrics, span } from '@cardea/runtime';
import type { Command, Decided } from './command.ts';
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
} from './event-store.ts';
import {
  assumptionOf,
  basisOf,
  type DecideDependencies,
  ownedBy,
  readPast,
  replayed,
  type Task,
} from './grounds.ts';
import type { Loaded } from './snapshots.ts';
import { versionOf } from './upcasting.ts';

/** `conflict`: another writer was faster. `assumed`: the try rested on what was not read; read and decide again. */
export type NotDecided = 'conflict' | 'assumed';

/** The result of a command before its append, which is left to the caller. */
type Planned<State, E extends DomainEvent, Reason extends string> = {
  readonly decision: Decision<E, Reason>;
  readonly before: Loaded<State>;
  readonly append: Append;
  readonly basis: readonly unknown[];
  readonly assumed: boolean;
};

/** One command on one stream, appended by itself. With `fresh` nothing is assumed. */
export async function decideOnce<State, E extends DomainEvent, Reason extends string>(
  needs: DecideDependencies,
  task: Task<State, E, Reason>,
  fresh: boolean,
): Promise<Decided<State, E, Reason> | NotDecided> {
  const planned = await plan(needs, task, fresh);
  if (planned === 'assumed' || !('append' in planned)) return planned;
  const [outcome] = await unlessTaken(needs.store, [planned.append], [planned]);
  return await concluded(needs, { task, planned, outcome });
}

/** Many commands in one batch, each on a stream of its own. */
export async function decideOnceOnMany<State, E extends DomainEvent, Reason extends string>(
  needs: DecideDependencies,
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
  needs: DecideDependencies,
  task: Task<State, E, Reason>,
  fresh: boolean,
): Promise<Planned<State, E, Reason> | Decided<State, E, Reason> | 'assumed'> {
  const { stream, streamId, command, decide } = task;
  const firstId = eventId(command.id, streamId, 0);
  const assumption = fresh ? undefined : assumptionOf(needs, task);
  const [past, basis] = await Promise.all([
    assumption === undefined ? readPast(needs, task) : [],
    basisOf(needs, task, fresh),
  ]);
  const seen = past.some((event) => event.id === firstId);
  const repeat = seen ? await repeatOf(needs, task, basis.states) : undefined;
  if (repeat !== undefined) return repeat;

  const before = assumption ?? replayed(stream, past);
  const decision = decide(before.state, before.revision, basis.states);
  const assumed = assumption !== undefined || basis.assumed;
  if (decision.events.length === 0) {
    if (assumed) return 'assumed';
    return { ...decision, ...before, position: undefined, repeated: false };
  }
  if (seen) throw commandReused(task);
  const events = decision.events.map((event, index) =>
    newEvent(task, event, index === 0 ? firstId : eventId(command.id, streamId, index)),
  );
  const { restsOn } = basis;
  const append = { streamId, expected: before.revision, events, restsOn };
  return { decision, before, append, basis: basis.states, assumed };
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
  needs: DecideDependencies,
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
    for (const changed of [
      streamId,
      ...(planned.append.restsOn ?? []).map((each) => each.streamId),
    ])
      snapshots.drop(store.log, changed);
    return assumed ? 'assumed' : 'conflict';
  }
  if (outcome.repeated) {
    const earlier = await repeatOf(needs, task, planned.basis);
    if (earlier === undefined) throw commandReused(task);
    return earlier;
  }
  const state = stream.stateCarrying
    ? decision.events.slice(-1).reduce(stream.evolve, stream.initial)
    : decision.events.reduce(stream.evolve, before.state);
  const { revision, position } = outcome;
  snapshots.put(store.log, streamId, stream, {
    state,
    revision,
    tenantId: command.metadata.tenantId,
  });
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
  { store }: DecideDependencies,
  { stream, streamId, command, decide }: Task<State, E, Reason>,
  basis: readonly unknown[],
): Promise<Decided<State, E, Reason> | undefined> {
  const all = ownedBy(command.metadata.tenantId, await store.readStream(streamId));
  const start = all.findIndex((event) => event.id === eventId(command.id, streamId, 0));
  if (start === -1) return undefined;
  const then = replayed(stream, all.slice(0, start));
  const decision = decide(then.state, then.revision, basis);
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

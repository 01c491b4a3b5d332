/**
 * One try of a command: load the stream, decide, append at the loaded revision. A first try may use a cached state, or
 * assume that a stream is new, because its append proves that. A decision that appends nothing proves nothing, so it is
 * made again on what was read.
 */
import type { JsonObject } from '@cardea/contracts';
import { currentTraceparent, metrics, span, uuidFrom } from '@cardea/runtime';
import type { Command, Decided } from '../command.ts';
import {
  type Append,
  type AppendOutcome,
  type Decision,
  type DomainEvent,
  EventIdTaken,
  type EventMetadata,
  type EventStore,
  type NewEvent,
  type RecordedEvent,
} from '../event-store.ts';
import {
  basisOf,
  type DecideDependencies,
  NO_BASIS,
  ownedBy,
  type Past,
  readPast,
  type Task,
} from '../grounds.ts';
import { stateAfter } from '../handlers.ts';
import type { Loaded, Snapshot } from '../states/snapshots.ts';
import { STATE_EVERY_EVENTS, withStoredState } from '../states/stored-states.ts';
import { streamPages } from '../states/stream-pages.ts';
import { versionOf } from '../upcasting.ts';

/**
 * `conflict`: another writer was faster. `assumed`: the try was based on a state that was not read, so read and decide
 * again.
 */
export type NotDecided = 'conflict' | 'assumed';

/** The result of a command before its append, which the caller makes. */
type Planned<State, E extends DomainEvent, Reason extends string> = {
  readonly decision: Decision<E, Reason>;
  readonly before: Before<State>;
  readonly after: State;
  readonly append: Append;
  readonly basis: readonly unknown[];
  readonly assumed: boolean;
};

/** Decides one command on one stream and appends. With `fresh` nothing is assumed. */
export async function decideOnce<State, E extends DomainEvent, Reason extends string>(
  needs: DecideDependencies,
  task: Task<State, E, Reason>,
  fresh: boolean,
): Promise<Decided<State, E, Reason> | NotDecided> {
  const planned = await plan(needs, task, fresh);
  if (planned === 'assumed' || !('append' in planned)) return planned;
  const [outcome] = await unlessTaken(needs.store, [planned.append]);
  if (outcome === undefined && !planned.assumed) {
    const earlier = await repeatOf(needs, task, planned.basis);
    if (earlier === undefined) throw commandReused(task);
    return earlier;
  }
  return await concluded(needs, { task, planned, outcome });
}

/** Decides many commands in one batch, each on a different stream. */
export async function decideOnceOnMany<State, E extends DomainEvent, Reason extends string>(
  needs: DecideDependencies,
  tasks: readonly Task<State, E, Reason>[],
): Promise<readonly (Decided<State, E, Reason> | NotDecided)[]> {
  const plans = await Promise.all(
    tasks.map((task) =>
      // Each command has its own cause, so none belongs to the trace of the caller that batches them.
      span(`command ${task.stream.noun}`, () => plan(needs, task, false), {
        attributes: { command: task.stream.noun },
        parent: task.command.metadata.traceparent ?? currentTraceparent(),
      }),
    ),
  );
  const toAppend = plans.filter((planned) => typeof planned === 'object' && 'append' in planned);
  const appends = toAppend.map(({ append }) => append);
  const outcomes = appends.length === 0 ? [] : await unlessTaken(needs.store, appends);
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
  const assumption = fresh ? undefined : assumptionOf(needs, task);
  const [past, basis] = await Promise.all([
    assumption === undefined ? readPast(needs, task) : undefined,
    task.restsOn === undefined ? NO_BASIS : basisOf(needs, task, fresh),
  ]);
  const firstId = past && eventId(command.id, streamId, 0);
  const seen = past?.events.some((event) => event.id === firstId) === true;
  const repeat = seen ? await repeatOf(needs, task, basis.states) : undefined;
  if (repeat !== undefined) return repeat;

  const before = assumption ?? beforeOf(stream, past?.before);
  const decision = decide(before.state, before.revision, basis.states);
  const assumed = assumption !== undefined || basis.assumed;
  if (decision.events.length === 0) {
    if (assumed) return 'assumed';
    const first = await repeatOfFirst(needs, task, { past, basis: basis.states });
    if (first !== undefined) return first;
    const { state, revision } = before;
    return { ...decision, state, revision, position: undefined, repeated: false };
  }
  if (seen) throw commandReused(task);
  const after = stream.stateCarrying
    ? decision.events.slice(-1).reduce(stream.evolve, stream.initial)
    : decision.events.reduce(stream.evolve, before.state);
  const events = newEvents(task, decision.events, { before, after });
  const append = { streamId, expected: before.revision, events, restsOn: basis.restsOn };
  return { decision, before, after, append, basis: basis.states, assumed };
}

/**
 * A state that is assumed and not read: the cached one, or none for a new stream. The append's expected revision
 * verifies it.
 */
function assumptionOf<State, E extends DomainEvent, Reason extends string>(
  { store, snapshots }: DecideDependencies,
  { stream, streamId, command, isNew }: Task<State, E, Reason>,
): Before<State> | undefined {
  const cached = snapshots.get(store.log, streamId, stream);
  if (cached === undefined) return isNew ? beforeOf(stream, undefined) : undefined;
  return cached.tenantId === command.metadata.tenantId ? beforeOf(stream, cached) : undefined;
}

/** The state on which a decision is made, of a stream that exists or not. */
type Before<State> = Loaded<State> & Pick<Snapshot<State>, 'storedAt'>;

const beforeOf = <State>(
  { initial }: { readonly initial: State },
  snapshot: Snapshot<unknown> | undefined,
): Before<State> => ({
  state: snapshot === undefined ? initial : (snapshot.state as State),
  revision: snapshot?.revision ?? 0,
  storedAt: snapshot?.storedAt ?? 0,
});

/**
 * Finds whether the command itself created the stream, whose first events were not read. Its decision then has no
 * events now. Events that it made later are found by their ids when it appends them again.
 */
async function repeatOfFirst<State, E extends DomainEvent, Reason extends string>(
  needs: DecideDependencies,
  task: Task<State, E, Reason>,
  { past, basis }: { readonly past: Past | undefined; readonly basis: readonly unknown[] },
): Promise<Decided<State, E, Reason> | undefined> {
  const { stream, streamId, command } = task;
  const [earliest] = past?.events ?? [];
  if (stream.stateCarrying || earliest === undefined || earliest.revision === 1) return undefined;
  const id = eventId(command.id, streamId, 0);
  const page = await needs.store.readStream(streamId);
  return page.some((event) => event.id === id) ? await repeatOf(needs, task, basis) : undefined;
}

/**
 * Appends. Returns no outcomes if ids are taken. A repeated command may make other events, because its state was
 * assumed or has changed since.
 */
async function unlessTaken(
  store: EventStore,
  appends: readonly Append[],
): Promise<readonly AppendOutcome[]> {
  let events = 0;
  for (const append of appends) events += append.events.length;
  const attributes = { log: store.log, events };
  const stop = metrics.appendDuration.startTimer();
  try {
    return await span('append', () => store.append(appends), { attributes });
  } catch (error) {
    if (error instanceof EventIdTaken) return [];
    throw error;
  } finally {
    stop();
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
  const { decision, before, after, assumed } = planned;
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
  const { revision, position } = outcome;
  const stored = planned.append.events.at(-1)?.metadata.stored;
  snapshots.put(store.log, streamId, stream, {
    state: after,
    revision,
    tenantId: command.metadata.tenantId,
    storedAt: stored === undefined ? before.storedAt : revision,
  });
  return { ...decision, state: after, revision, position, repeated: false };
}

/**
 * If the command was carried out before, returns the decision of that time and the current state. Undefined when
 * deciding again yields other events: then it is another command under the same id.
 */
async function repeatOf<State, E extends DomainEvent, Reason extends string>(
  { store }: DecideDependencies,
  { stream, streamId, command, decide }: Task<State, E, Reason>,
  basis: readonly unknown[],
): Promise<Decided<State, E, Reason> | undefined> {
  const firstId = eventId(command.id, streamId, 0);
  let then: Loaded<State> = { state: stream.initial, revision: 0 };
  let now = then;
  /** Reads from the command's first event on, as many events as it may have created. */
  const since: RecordedEvent[] = [];
  for await (const page of streamPages(store, streamId)) {
    if (ownedBy(command.metadata.tenantId, page).length === 0) return undefined;
    for (const event of page) {
      if (event.id === firstId) then = now;
      if (event.id === firstId || (since.length > 0 && since.length <= COMMAND_EVENTS_MAX)) {
        since.push(event);
      }
      const from = stream.stateCarrying ? stream.initial : now.state;
      now = { state: stateAfter(stream, [event], from), revision: event.revision };
    }
  }
  if (since.length === 0) return undefined;
  const decision = decide(then.state, then.revision, basis);
  const recorded = since.slice(0, decision.events.length).map((event, index) => {
    const ours = event.id === eventId(command.id, streamId, index);
    return ours ? { type: event.type, data: event.data } : undefined;
  });
  const same =
    decision.events.length > 0 &&
    decision.events.every((event, index) => event.type === recorded[index]?.type) &&
    since[decision.events.length]?.id !== eventId(command.id, streamId, decision.events.length);
  if (!same) return undefined;
  return {
    ...decision,
    events: recorded as readonly DomainEvent[] as readonly E[],
    ...now,
    position: since[decision.events.length - 1]?.position,
    repeated: true,
  };
}

/** The most events of one command. */
const COMMAND_EVENTS_MAX = 256;

/** Returns the events, and with the last one the stream's new state if a stored state is due. */
function newEvents<State, E extends DomainEvent, Reason extends string>(
  task: Task<State, E, Reason>,
  events: readonly E[],
  { before, after }: { readonly before: Before<State>; readonly after: State },
): readonly NewEvent[] {
  const { stream, streamId, command } = task;
  const metadata = traced(command.metadata);
  const revision = before.revision + events.length;
  const isStateDue = !stream.stateCarrying && revision - before.storedAt >= STATE_EVERY_EVENTS;
  const all: NewEvent[] = [];
  for (const [index, event] of events.entries()) {
    all.push({
      id: eventId(command.id, streamId, index),
      type: event.type,
      schemaVersion: versionOf(stream, event.type),
      time: command.now,
      data: event.data as JsonObject,
      metadata:
        isStateDue && index === events.length - 1
          ? withStoredState(stream, metadata, after)
          : metadata,
    });
  }
  return all;
}

/**
 * The command's own span is the direct cause of its events. A command that follows from an event may contain that
 * event's metadata, but not the state in it.
 */
const traced = ({ stored: _another, ...metadata }: EventMetadata): EventMetadata => {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? metadata : { ...metadata, traceparent };
};

const commandReused = (task: { readonly streamId: string; readonly command: Command }) =>
  new Error(
    `command ${task.command.id} already made other events on ${task.streamId}; a second command needs an id of its own`,
  );

/** Derives the id of an event from its command, its stream and its index, so a retry has the same ids. */
export const eventId = (commandId: string, streamId: string, index: number): string =>
  uuidFrom('event', commandId, streamId, String(index));

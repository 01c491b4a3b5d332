/** One try of a command: load the stream, decide, append at the loaded revision. */
import type { JsonObject } from '@cardea/contracts';
import { currentTraceparent, metrics, span } from '@cardea/runtime';
import type { Command, Decided, Loaded } from './command.ts';
import type { Decision } from './decision.ts';
import { eventId } from './event-id.ts';
import type {
  Append,
  AppendOutcome,
  DomainEvent,
  EventMetadata,
  EventStore,
  NewEvent,
  RecordedEvent,
  Stream,
} from './event-store.ts';
import { stateAfter } from './handlers.ts';
import { versionOf } from './upcasting.ts';

export type Task<State, E extends DomainEvent, Reason extends string> = {
  readonly stream: Stream<State, E>;
  readonly streamId: string;
  readonly command: Command;
  readonly decide: (state: State, revision: number) => Decision<E, Reason>;
  /** Saves the first attempt its read; when this is no longer the last event, the append meets a conflict. */
  readonly last?: RecordedEvent;
};

/** The result of a command before its append, which is left to the caller. */
type Planned<State, E extends DomainEvent, Reason extends string> = {
  readonly decision: Decision<E, Reason>;
  readonly before: Loaded<State>;
  readonly append: Append;
};

/** One command on one stream, appended by itself. */
export async function attempt<State, E extends DomainEvent, Reason extends string>(
  store: EventStore,
  task: Task<State, E, Reason>,
): Promise<Decided<State, E, Reason> | 'conflict'> {
  const planned = await plan(store, task);
  if (!('append' in planned)) return planned;
  const [outcome] = await appended(store, [planned.append]);
  return await concluded(store, { task, planned, outcome });
}

/** Many commands in one batch, each on a stream of its own. */
export async function attemptMany<State, E extends DomainEvent, Reason extends string>(
  store: EventStore,
  tasks: readonly Task<State, E, Reason>[],
): Promise<readonly (Decided<State, E, Reason> | 'conflict')[]> {
  const plans = await Promise.all(
    tasks.map((task) =>
      // Each command has its own cause, so none of them belongs to the trace of the caller that batches
      // them.
      span(`command ${task.stream.noun}`, () => plan(store, task), {
        attributes: { command: task.stream.noun },
        parent: task.command.metadata.traceparent ?? currentTraceparent(),
      }),
    ),
  );
  const appends = plans.flatMap((planned) => ('append' in planned ? [planned.append] : []));
  const outcomes = (appends.length === 0 ? [] : await appended(store, appends)).values();
  return await Promise.all(
    tasks.map((task, index) => {
      const planned = plans[index];
      if (planned === undefined) throw new Error('a command without a plan');
      if (!('append' in planned)) return planned;
      return concluded(store, { task, planned, outcome: outcomes.next().value });
    }),
  );
}

async function plan<State, E extends DomainEvent, Reason extends string>(
  store: EventStore,
  task: Task<State, E, Reason>,
): Promise<Planned<State, E, Reason> | Decided<State, E, Reason>> {
  const { stream, streamId, command, decide, last } = task;
  const { tenantId } = command.metadata;
  const past =
    last === undefined
      ? await pastOf(store, stream, streamId, tenantId)
      : ownedBy(tenantId, [last]);
  const firstId = eventId(command.id, streamId, 0);
  const seen = past.some((event) => event.id === firstId);
  const repeat = seen ? await repeatOf(store, task) : undefined;
  if (repeat !== undefined) return repeat;

  const before = replayed(stream, past);
  const decision = decide(before.state, before.revision);
  if (decision.events.length === 0) {
    return { ...decision, ...before, position: undefined, repeated: false };
  }
  if (seen) throw commandReused(task);
  const events = decision.events.map((event, index) =>
    newEvent(task, event, index === 0 ? firstId : eventId(command.id, streamId, index)),
  );
  return { decision, before, append: { streamId, expected: before.revision, events } };
}

const appended = (store: EventStore, appends: readonly Append[]) =>
  span('append', () => timed(store.append(appends)), {
    attributes: {
      log: store.log,
      events: appends.reduce((sum, { events }) => sum + events.length, 0),
    },
  });

async function concluded<State, E extends DomainEvent, Reason extends string>(
  store: EventStore,
  of: {
    readonly task: Task<State, E, Reason>;
    readonly planned: Planned<State, E, Reason>;
    readonly outcome: AppendOutcome | undefined;
  },
): Promise<Decided<State, E, Reason> | 'conflict'> {
  const { task, planned, outcome } = of;
  const { stream } = task;
  const { decision, before } = planned;
  if (outcome === undefined) throw new Error('the store answered no outcome');
  if (!outcome.appended) return 'conflict';
  if (outcome.repeated) {
    const earlier = await repeatOf(store, task);
    if (earlier === undefined) throw commandReused(task);
    return earlier;
  }
  return {
    ...decision,
    state: stream.stateCarrying
      ? decision.events.slice(-1).reduce(stream.evolve, stream.initial)
      : decision.events.reduce(stream.evolve, before.state),
    revision: outcome.revision,
    position: outcome.position,
    repeated: false,
  };
}

export const streamIdOf = (stream: { readonly noun: string }, id: string): string =>
  `${stream.noun}-${id}`;

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
  store: EventStore,
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

export async function pastOf<State, E extends DomainEvent>(
  store: EventStore,
  stream: Stream<State, E>,
  streamId: string,
  tenantId: string,
): Promise<readonly RecordedEvent[]> {
  if (!stream.stateCarrying) return ownedBy(tenantId, await store.readStream(streamId));
  const last = await store.readLast(streamId);
  return ownedBy(tenantId, last === undefined ? [] : [last]);
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

import { setTimeout as sleepMs } from 'node:timers/promises';
import type { JsonObject } from '@cardea/contracts';
import { type Clock, currentTraceparent, metrics, span } from '@cardea/runtime';
import type { Command, Decided, Loaded, Streams } from './command.ts';
import type { Decision } from './decision.ts';
import { eventId } from './event-id.ts';
import {
  type DomainEvent,
  type EventMetadata,
  type EventStore,
  EventStoreOverloaded,
  EventStoreUnavailable,
  type NewEvent,
  type RecordedEvent,
  type Stream,
  WriteContention,
} from './event-store.ts';
import { turns } from './turns.ts';

/** Times that a command is decided before it gives up to other writers. */
const ATTEMPTS_MAX = 3;
/** Times that a command is tried while the store cannot be reached or its answer was lost. */
const FAILURES_MAX = 3;
/** A failure that came later than this is not tried again: its caller has waited long enough. */
const RETRY_WITHIN_MS = 1000;
/** The pause behind a conflict is random, up to this much per attempt. */
const CONFLICT_PAUSE_MS = 15;
/** The pause behind a failure, per failure, and as much again by chance. */
const FAILURE_PAUSE_MS = 100;

type Options = {
  readonly clock?: Pick<Clock, 'sleep'>;
  /** From 0 to 1, for the jitter. */
  readonly random?: () => number;
};

type Task<State, E extends DomainEvent, Reason extends string> = {
  readonly stream: Stream<State, E>;
  readonly streamId: string;
  readonly command: Command;
  readonly decide: (state: State, revision: number) => Decision<E, Reason>;
  /** Spares the first attempt its read: if it is not the last any more, the append meets a conflict. */
  readonly last?: RecordedEvent;
};

/** Commands on one stream take turns in this process, so only other processes can get between. */
export function streams(store: EventStore, options: Options = {}): Streams {
  const inTurn = turns();
  const pause = pauses(options);

  const load = async <State, E extends DomainEvent>(
    stream: Stream<State, E>,
    of: { readonly tenantId: string; readonly id: string },
  ) => {
    const past = await pastOf(store, stream, streamIdOf(stream, of.id), of.tenantId);
    return folded(stream, past);
  };

  const carriedOut = <State, E extends DomainEvent, Reason extends string>(
    task: Task<State, E, Reason>,
  ) => watched(task, () => inTurn(task.streamId, () => untilDecided(store, task, pause)));

  return {
    load,
    history: async (stream, of) => {
      const events = await store.readStream(streamIdOf(stream, of.id));
      return ownedBy(of.tenantId, events).map((event) => upcastTo(stream, event));
    },
    decideOn: (stream, id, command, decide) =>
      carriedOut({ stream, streamId: streamIdOf(stream, id), command, decide }),
    decideFrom: (stream, last, command, decide) => {
      if (!stream.stateCarrying) throw new Error(`a ${stream.noun} is more than its last event`);
      return carriedOut({ stream, streamId: last.streamId, command, decide, last });
    },
  };
}

export const streamIdOf = (stream: { readonly noun: string }, id: string): string =>
  `${stream.noun}-${id}`;

/** What happened, in today's words: the event as its stream's newest version writes it. */
export function upcastTo<State, E extends DomainEvent>(
  stream: Stream<State, E>,
  event: RecordedEvent,
): RecordedEvent {
  if (stream.upcast === undefined) return event;
  const { type, data } = stream.upcast(event);
  return { ...event, type, data: data as JsonObject, schemaVersion: versionOf(stream, type) };
}

/** What came of a command is counted, and told to whoever follows its trace. */
function watched<State, E extends DomainEvent, Reason extends string>(
  { stream: { noun }, command }: Task<State, E, Reason>,
  decide: () => Promise<Decided<State, E, Reason>>,
): Promise<Decided<State, E, Reason>> {
  const tell = async (current: { setAttribute(name: string, value: string): unknown }) => {
    let outcome = 'failed';
    try {
      const decided = await decide();
      outcome = decided.accepted ? 'accepted' : decided.reason;
      return decided;
    } finally {
      metrics.commands.inc({ command: noun, outcome });
      current.setAttribute('outcome', outcome);
    }
  };
  // What the command came with counts where nothing nearer is under way, such as a vend.
  const parent = currentTraceparent() ?? command.metadata.traceparent;
  return span(`command ${noun}`, tell, { attributes: { command: noun }, parent });
}

async function untilDecided<State, E extends DomainEvent, Reason extends string>(
  store: EventStore,
  task: Task<State, E, Reason>,
  pause: ReturnType<typeof pauses>,
): Promise<Decided<State, E, Reason>> {
  const { last: _last, ...again } = task;
  let conflicts = 0;
  let failures = 0;
  const start = performance.now();
  while (true) {
    try {
      const decided = await attempt(store, conflicts + failures === 0 ? task : again);
      if (decided !== 'conflict') return decided;
      conflicts++;
      if (conflicts === ATTEMPTS_MAX) throw new WriteContention(`writers meet on ${task.streamId}`);
      await pause.afterConflict(conflicts);
    } catch (error) {
      // Whether a lost append was stored is unknown; the same event ids make the next try safe.
      const lost =
        error instanceof EventStoreUnavailable && !(error instanceof EventStoreOverloaded);
      failures++;
      const late = performance.now() - start > RETRY_WITHIN_MS;
      if (!lost || late || failures === FAILURES_MAX) throw error;
      await pause.afterFailure(failures);
    }
  }
}

async function attempt<State, E extends DomainEvent, Reason extends string>(
  store: EventStore,
  task: Task<State, E, Reason>,
): Promise<Decided<State, E, Reason> | 'conflict'> {
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

  const { state, revision } = folded(stream, past);
  const decision = decide(state, revision);
  if (decision.events.length === 0) {
    return { ...decision, state, revision, position: undefined, repeated: false };
  }
  if (seen) throw commandReused(task);

  const events = decision.events.map((event, index) =>
    newEvent(task, event, index === 0 ? firstId : eventId(command.id, streamId, index)),
  );
  const append = { streamId, expected: revision, events };
  const [outcome] = await span('append', () => timed(store.append([append])), {
    attributes: { log: store.log, events: events.length },
  });
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
      : decision.events.reduce(stream.evolve, state),
    revision: outcome.revision,
    position: outcome.position,
    repeated: false,
  };
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
 * The command was carried out before: gives the decision of then and the state of now. Undefined when
 * deciding again would say something else, which is another command under the same id.
 */
async function repeatOf<State, E extends DomainEvent, Reason extends string>(
  store: EventStore,
  { stream, streamId, command, decide }: Task<State, E, Reason>,
): Promise<Decided<State, E, Reason> | undefined> {
  const all = ownedBy(command.metadata.tenantId, await store.readStream(streamId));
  const start = all.findIndex((event) => event.id === eventId(command.id, streamId, 0));
  if (start === -1) return undefined;
  const then = folded(stream, all.slice(0, start));
  const decision = decide(then.state, then.revision);
  const recorded = all.slice(start, start + decision.events.length).map((event, index) => {
    const ours = event.id === eventId(command.id, streamId, index);
    return ours ? domainEvent(stream, event) : undefined;
  });
  const same =
    decision.events.length > 0 &&
    decision.events.every((event, index) => event.type === recorded[index]?.type) &&
    all[start + decision.events.length]?.id !==
      eventId(command.id, streamId, decision.events.length);
  if (!same) return undefined;
  return {
    ...decision,
    events: recorded as readonly E[],
    ...folded(stream, all),
    position: all[start + decision.events.length - 1]?.position,
    repeated: true,
  };
}

async function pastOf<State, E extends DomainEvent>(
  store: EventStore,
  stream: Stream<State, E>,
  streamId: string,
  tenantId: string,
): Promise<readonly RecordedEvent[]> {
  if (!stream.stateCarrying) return ownedBy(tenantId, await store.readStream(streamId));
  const last = await store.readLast(streamId);
  return ownedBy(tenantId, last === undefined ? [] : [last]);
}

/** Another tenant's stream reads as one that does not exist. */
const ownedBy = (tenantId: string, events: readonly RecordedEvent[]) =>
  events[0]?.metadata.tenantId === tenantId ? events : [];

function folded<State, E extends DomainEvent>(
  stream: Stream<State, E>,
  past: readonly RecordedEvent[],
): Loaded<State> {
  const events = stream.stateCarrying ? past.slice(-1) : past;
  const state = events.reduce(
    (before, event) => stream.evolve(before, domainEvent(stream, event)),
    stream.initial,
  );
  return { state, revision: past.at(-1)?.revision ?? 0 };
}

function domainEvent<State, E extends DomainEvent>(stream: Stream<State, E>, event: RecordedEvent) {
  const { type, data } = stream.upcast === undefined ? event : stream.upcast(event);
  return { type, data } as DomainEvent as E;
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

/** The command's own span is the nearest cause of its events. */
const traced = (metadata: EventMetadata): EventMetadata => {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? metadata : { ...metadata, traceparent };
};

const versionOf = (
  stream: { readonly versions?: { readonly [type: string]: number } },
  type: string,
) => stream.versions?.[type] ?? 1;

const commandReused = (task: { readonly streamId: string; readonly command: Command }) =>
  new Error(
    `command ${task.command.id} already made other events on ${task.streamId}; a second command needs an id of its own`,
  );

function pauses({ clock, random = Math.random }: Options) {
  const sleep = clock === undefined ? (ms: number) => sleepMs(ms) : (ms: number) => clock.sleep(ms);
  return {
    afterConflict: (conflicts: number) => sleep(random() * CONFLICT_PAUSE_MS * conflicts),
    afterFailure: (failures: number) => sleep((1 + random()) * FAILURE_PAUSE_MS * failures),
  };
}

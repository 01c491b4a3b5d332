import type { JsonObject } from '@cardea/contracts';
import {
  type Append,
  type AppendOutcome,
  EventIdTaken,
  type EventStore,
  type Log,
  type RecordedEvent,
  STREAM_PAGE_EVENTS,
  STREAM_TAIL_EVENTS,
} from '@cardea/event-store';

/** Logs that live as long as the process. Stores with the same logs see each other's events. */
export type InMemoryLogs = {
  readonly events: Map<Log, RecordedEvent[]>;
  readonly listeners: Map<Log, Set<() => void>>;
};

export const inMemoryLogs = (): InMemoryLogs => ({ events: new Map(), listeners: new Map() });

/** An event store in an array, with the complete interface: for unit tests and models. */
export function inMemoryEventStore(log: Log, logs: InMemoryLogs = inMemoryLogs()): EventStore {
  const eventsOf = (of: Log) => entry(logs.events, of, () => []);
  const listenersOf = (of: Log) => entry(logs.listeners, of, () => new Set());
  const streamOf = (streamId: string) =>
    eventsOf(log).filter((event) => event.streamId === streamId);

  const readLog: EventStore['readLog'] = async (of, after, limit) =>
    eventsOf(of)
      .slice(Number(after)) // Positions have no gaps here and begin with 1.
      .slice(0, limit);

  return {
    log,
    append: async (appends) => {
      const outcomes = appends.map((append) => appendOne(log, eventsOf(log), append));
      const stored = outcomes.some((outcome) => outcome.appended && !outcome.repeated);
      if (stored) for (const listener of listenersOf(log)) queueMicrotask(listener);
      return outcomes;
    },
    readStream: async (streamId, from = 1) => pageOf(streamOf(streamId), from),
    readLast: async (streamId) => streamOf(streamId).at(-1),
    readStreams: async (reads) =>
      reads.map(({ streamId, from }) =>
        typeof from === 'number'
          ? pageOf(streamOf(streamId), from)
          : streamOf(streamId).slice(from === 'last' ? -1 : -STREAM_TAIL_EVENTS),
      ),
    readLog,
    followLog: readLog,
    head: async (of) => eventsOf(of).at(-1)?.position ?? 0n,
    subscribe: async (of, onAppend) => {
      const listener = () => onAppend(); // A new function, so that one `onAppend` may subscribe twice.
      listenersOf(of).add(listener);
      return async () => {
        listenersOf(of).delete(listener);
      };
    },
    close: async () => {},
  };
}

const pageOf = (stream: readonly RecordedEvent[], from: number): readonly RecordedEvent[] =>
  stream.filter((event) => event.revision >= from).slice(0, STREAM_PAGE_EVENTS);

function appendOne(log: Log, events: RecordedEvent[], append: Append): AppendOutcome {
  const first = append.events[0];
  if (first === undefined) throw new Error('an append carries one event or more');
  const repeated = repeatOf(events, append);
  if (repeated !== undefined) return repeated;

  const actual = events.filter((event) => event.streamId === append.streamId).length;
  if (append.expected !== 'any' && append.expected !== actual) {
    return { appended: false, actualRevision: actual };
  }
  const isMet = (append.restsOn ?? []).every(
    ({ streamId, revision }) =>
      events.filter((event) => event.streamId === streamId).length === revision,
  );
  if (!isMet) return { appended: false, actualRevision: actual };
  for (const [index, event] of append.events.entries()) {
    events.push({
      ...structuredClone(event),
      data: JSON.parse(JSON.stringify(event.data)) as JsonObject,
      log,
      streamId: append.streamId,
      revision: actual + index + 1,
      position: BigInt(events.length + 1),
    });
  }
  return {
    appended: true,
    position: BigInt(events.length),
    revision: actual + append.events.length,
    repeated: false,
  };
}

function repeatOf(events: readonly RecordedEvent[], append: Append): AppendOutcome | undefined {
  const ids = new Set(append.events.map((event) => event.id));
  if (ids.size < append.events.length) throw new EventIdTaken(append.streamId);
  const found = events.filter((event) => ids.has(event.id));
  const last = found.at(-1);
  if (last === undefined) return undefined;
  const whole =
    found.length === append.events.length &&
    found.every((event, index) => {
      const asked = append.events[index];
      return event.id === asked?.id && event.streamId === append.streamId;
    });
  if (!whole) throw new EventIdTaken(append.streamId);
  return { appended: true, position: last.position, revision: last.revision, repeated: true };
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

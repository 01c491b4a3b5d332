/** Folds streams in pages, from a cached state or from the last state that was stored with an event. */
import type { EventStore, RecordedEvent } from '../event-store.ts';
import { stateAfter } from '../handlers.ts';
import { lastStoredState } from './stored-states.ts';
import { STREAM_PAGE_EVENTS, STREAM_TAIL_EVENTS, streamPages } from './stream-pages.ts';
import type { AnyStream, Snapshot } from './stream-states.ts';

type Reader = Pick<EventStore, 'readStream'>;
type Of = { readonly stream: AnyStream; readonly streamId: string };
type Known = Snapshot<unknown> | undefined;

/**
 * The stream after all its events. `read` is its first read: the events after `before`, or the last ones of the stream
 * if nothing is known.
 */
export async function stateFrom(
  store: Reader,
  of: Of,
  read: readonly RecordedEvent[],
  before: Known,
): Promise<Known> {
  const last = read.at(-1);
  if (last === undefined) return before;
  const { stream } = of;
  if (stream.stateCarrying) {
    return last.revision === before?.revision ? before : stepped(stream, undefined, [last]);
  }
  if (before === undefined && read[0]?.revision !== 1) {
    return resumed(stream, read) ?? (await onward(store, of, undefined));
  }
  const next = stepped(stream, before, read);
  return read.length < STREAM_PAGE_EVENTS ? next : await onward(store, of, next);
}

/**
 * Returns the state of the stream after this event. A known state that is later than the event cannot be
 * used.
 */
export async function stateThrough(
  store: Reader,
  stream: AnyStream,
  event: RecordedEvent,
  known: Known,
): Promise<Known> {
  const { streamId, revision } = event;
  if (known?.revision === revision) return known;
  if (stream.stateCarrying || revision === 1) return stepped(stream, undefined, [event]);
  if (known?.revision === revision - 1) return stepped(stream, known, [event]);
  if (known !== undefined && known.revision < revision) {
    return await onward(store, { stream, streamId }, known, revision);
  }
  const from = Math.max(revision - STREAM_TAIL_EVENTS, 0) + 1;
  const read = upTo(revision, await store.readStream(streamId, from));
  if (from === 1) return stepped(stream, undefined, read);
  return resumed(stream, read) ?? (await onward(store, { stream, streamId }, undefined, revision));
}

/** Reads what comes after `before`, or everything if nothing is known. */
async function onward(
  store: Reader,
  { stream, streamId }: Of,
  before: Known,
  through = Number.MAX_SAFE_INTEGER,
): Promise<Known> {
  let next = before;
  for await (const page of streamPages(store, streamId, (before?.revision ?? 0) + 1)) {
    const events = upTo(through, page);
    if (events.length > 0) next = stepped(stream, next, events);
    if (events.length < page.length) break;
  }
  return next;
}

/** Starts from the last stored state among the last events of a stream. Undefined if there is none. */
function resumed(stream: AnyStream, read: readonly RecordedEvent[]): Known {
  const [first] = read;
  const stored = lastStoredState(stream, read);
  if (first === undefined || stored === undefined) return undefined;
  const { state, storedAt, rest } = stored;
  const { tenantId } = first.metadata;
  return stepped(stream, { state, storedAt, revision: storedAt, tenantId }, rest);
}

function stepped(
  stream: AnyStream,
  before: Known,
  events: readonly RecordedEvent[],
): Snapshot<unknown> {
  const last = events.at(-1);
  if (last === undefined) {
    if (before === undefined) throw new Error('a stream without events has no state');
    return before;
  }
  const { evolve, initial } = stream as AnyStream & {
    readonly evolve: (state: unknown, event: object) => unknown;
  };
  return {
    state: stateAfter({ initial, evolve }, events, before === undefined ? initial : before.state),
    revision: last.revision,
    storedAt: lastStoredState(stream, events)?.storedAt ?? before?.storedAt ?? 0,
    tenantId: before?.tenantId ?? events[0]?.metadata.tenantId ?? last.metadata.tenantId,
  };
}

const upTo = (through: number, events: readonly RecordedEvent[]): readonly RecordedEvent[] =>
  events.filter(({ revision }) => revision <= through);

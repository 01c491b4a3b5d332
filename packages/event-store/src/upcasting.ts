/**
 * Converts events of older versions to the current one. All readers of a service's log use this store
 * (decisions, projections, policies, the relay, indexes), so they only see current versions.
 */
import type { EventStore, RecordedEvent, StreamForms } from './event-store.ts';

/** `streams` are all streams of the service. Events of other streams cannot be appended. */
export function upcasting(store: EventStore, streams: readonly StreamForms[]): EventStore {
  const forms = new Map<string, StreamForms>();
  for (const stream of streams) {
    if (forms.has(stream.noun)) throw new Error(`two streams of ${store.log} are a ${stream.noun}`);
    forms.set(stream.noun, stream);
  }
  const formsOf = (streamId: string) => forms.get(streamId.slice(0, streamId.indexOf('-')));
  const today = (event: RecordedEvent) => {
    if (event.fault !== undefined) throw event.fault;
    return upcast(event, formsOf(event.streamId));
  };
  const todayOrFault = (event: RecordedEvent): RecordedEvent => {
    try {
      return today(event);
    } catch (fault) {
      return { ...event, fault };
    }
  };
  const own = (log: string) => {
    if (log !== store.log) throw new Error(`${store.log} does not know the streams of ${log}`);
  };
  return {
    log: store.log,
    append: (appends) => {
      for (const { streamId } of appends) {
        if (formsOf(streamId) !== undefined) continue;
        throw new Error(`${store.log} has registered no stream for ${streamId}`);
      }
      return store.append(appends);
    },
    readStream: async (streamId, from) => (await store.readStream(streamId, from)).map(today),
    readLast: async (streamId) => {
      const last = await store.readLast(streamId);
      return last && today(last);
    },
    readStreams: async (reads) =>
      (await store.readStreams(reads)).map((events) => events.map(today)),
    readLog: async (log, after, limit) => {
      own(log);
      return (await store.readLog(log, after, limit)).map(todayOrFault);
    },
    followLog: async (log, after, limit) => {
      own(log);
      return (await store.followLog(log, after, limit)).map(todayOrFault);
    },
    head: (log) => store.head(log),
    subscribe: (log, onAppend) => store.subscribe(log, onAppend),
    close: () => store.close(),
  };
}

/** The current version of an event type. */
export const versionOf = (stream: Pick<StreamForms, 'upcasters'>, type: string): number =>
  1 + (stream.upcasters?.[type]?.length ?? 0);

function upcast(event: RecordedEvent, forms: StreamForms | undefined): RecordedEvent {
  const { schemaVersion, metadata } = event;
  const later = forms?.upcasters?.[event.type]?.slice(schemaVersion - 1) ?? [];
  if (later.length === 0) return event;
  const data = later.reduce((before, upcaster) => upcaster(before, metadata), event.data);
  return {
    ...event,
    data,
    schemaVersion: schemaVersion + later.length,
    recordedVersion: schemaVersion,
  };
}

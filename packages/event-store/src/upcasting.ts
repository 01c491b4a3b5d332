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
  const today = (event: RecordedEvent): RecordedEvent => {
    const { fault, schemaVersion, metadata } = event;
    if (fault !== undefined) throw fault;
    const upcasters = formsOf(event.streamId)?.upcasters?.[event.type] ?? [];
    if (upcasters.length < schemaVersion) return event;
    let data = event.data;
    for (const upcaster of upcasters.slice(schemaVersion - 1)) data = upcaster(data, metadata);
    const current = 1 + upcasters.length;
    return { ...event, data, schemaVersion: current, recordedVersion: schemaVersion };
  };
  /**
   * Reads of this service's log. An event that cannot be converted keeps the fault, so that a follower can attribute it to
   * the event.
   */
  const converted =
    (read: EventStore['readLog']): EventStore['readLog'] =>
    async (log, after, limit) => {
      if (log !== store.log) throw new Error(`${store.log} does not know the streams of ${log}`);
      const all: RecordedEvent[] = [];
      for (const event of await read(log, after, limit)) {
        try {
          all.push(today(event));
        } catch (fault) {
          all.push({ ...event, fault });
        }
      }
      return all;
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
    readLog: converted((...of) => store.readLog(...of)),
    followLog: converted((...of) => store.followLog(...of)),
    head: (log) => store.head(log),
    subscribe: (log, onAppend) => store.subscribe(log, onAppend),
    close: () => store.close(),
  };
}

/** The current version of an event type. */
export const versionOf = (stream: Pick<StreamForms, 'upcasters'>, type: string): number =>
  1 + (stream.upcasters?.[type]?.length ?? 0);

import type { EventStore, RecordedEvent } from '../event-store.ts';

/** The most events that one read of a stream returns. */
export const STREAM_PAGE_EVENTS = 1000;
/** The number of events at the end of a stream that are read to find its last stored state. */
export const STREAM_TAIL_EVENTS = 256;

/** The events of a stream from a revision on, in pages, so that a stream of any length can be read. */
export async function* streamPages(
  store: Pick<EventStore, 'readStream'>,
  streamId: string,
  from = 1,
): AsyncGenerator<readonly RecordedEvent[]> {
  for (let next = from; ; ) {
    const page = await store.readStream(streamId, next);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < STREAM_PAGE_EVENTS) return;
    next = last.revision + 1;
  }
}

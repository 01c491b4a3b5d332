import type { JsonObject } from '@cardea/contracts';
import type { EventMetadata, Log, RecordedEvent } from '../event-store.ts';
import type { Written } from './append-batch.ts';

/** An append that was stored, with the position of its last event. */
export type Stored = {
  readonly append: Written;
  readonly position: bigint;
  readonly revision: number;
};

let lastMetadata: { readonly text: string; readonly read: EventMetadata } | undefined;

/** The events of one command share one metadata text, which is parsed once. */
function metadataOf(text: string): EventMetadata {
  if (lastMetadata?.text !== text) lastMetadata = { text, read: JSON.parse(text) as EventMetadata };
  return lastMetadata.read;
}

/** The events as a reader of the table would get them: parsed from the JSON that was sent. */
export function storedEvents(log: Log, { append, position, revision }: Stored): RecordedEvent[] {
  const { streamId, events, datas, metadatas } = append;
  return events.map(({ id, type, schemaVersion, time }, index) => {
    const before = events.length - 1 - index;
    return {
      log,
      streamId,
      revision: revision - before,
      position: position - BigInt(before),
      id,
      type,
      schemaVersion,
      time,
      data: JSON.parse(datas[index] ?? '{}') as JsonObject,
      metadata: metadataOf(metadatas[index] ?? '{}'),
    };
  });
}

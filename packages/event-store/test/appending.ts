import { randomUUID } from 'node:crypto';
import type { EventStore } from '@cardea/event-store';

/** Appends as fast as it can to its own streams. */
export type Writer = {
  /** Streams whose append was confirmed. */
  acked(): ReadonlySet<string>;
  /** Finishes pending appends. */
  stop(): Promise<void>;
  /** Stops like SIGKILL, in the middle of any work. */
  kill(): Promise<void>;
};

/** Several events per append, so that a partly stored one would be noticed. */
export const EVENTS_PER_APPEND = 3;
/** Enough to keep two batches in flight. */
export const CALLERS = 48;

/** The caller that wrote a stream, by the stream's name. */
export const callerOf = (streamId: string) => streamId.split('-')[1];

/** Each caller appends to one new stream after another. The streams' names contain its number. */
export function appendOn(store: EventStore, name: string, onAcked: (streamId: string) => void) {
  let stopping = false;
  const caller = async (number: number) => {
    while (!stopping) {
      const streamId = `${name}-${number}-${randomUUID()}`;
      const events = Array.from({ length: EVENTS_PER_APPEND }, () => newEvent());
      const [outcome] = await store.append([{ streamId, expected: 0, events }]);
      if (!outcome?.appended) throw new Error('a new stream refused its first append');
      onAcked(streamId);
      await new Promise(setImmediate); // Lets others run, since a store may resolve at once.
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)));
  return {
    stop: async () => {
      stopping = true;
      await callers;
    },
  };
}

const newEvent = () => ({
  id: randomUUID(),
  type: 'Written',
  schemaVersion: 1,
  time: new Date(),
  data: { text: 'x'.repeat(200) },
  metadata: { tenantId: 'acme', actor: { type: 'system', id: 'writer' } } as const,
});

import { randomUUID } from 'node:crypto';
import type { EventStore } from '@cardea/event-store';

/** Appends as fast as it can to streams of its own. */
export type Writer = {
  /** Streams whose append was answered. */
  acked(): ReadonlySet<string>;
  /** Finishes what is under way. */
  stop(): Promise<void>;
  /** As SIGKILL does: in the middle of whatever it is doing. */
  kill(): Promise<void>;
};

/** Events of one append, so that a half-stored one would show. */
export const EVENTS_PER_APPEND = 3;
/** Enough to keep two batches in flight. */
export const CALLERS = 48;

/** Whose a stream is, by its name. */
export const callerOf = (streamId: string) => streamId.split('-')[1];

/** Each caller appends to one new stream after the other, and has its number in their names. */
export function appendOn(store: EventStore, name: string, onAcked: (streamId: string) => void) {
  let stopping = false;
  const caller = async (number: number) => {
    while (!stopping) {
      const streamId = `${name}-${number}-${randomUUID()}`;
      const events = Array.from({ length: EVENTS_PER_APPEND }, () => newEvent());
      const [outcome] = await store.append([{ streamId, expected: 0, events }]);
      if (!outcome?.appended) throw new Error('a new stream refused its first append');
      onAcked(streamId);
      await new Promise(setImmediate); // a store that answers at once must let others in
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

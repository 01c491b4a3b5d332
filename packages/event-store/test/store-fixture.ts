import { randomUUID } from 'node:crypto';
import type { Append, EventStore, Log, NewEvent } from '@cardea/event-store';
import type { Writer } from './appending.ts';

/**
 * The functions that the suite needs from an adapter. Each adapter runs the same tests under the same names.
 */
export type EventStoreFixture = {
  /** Opens a store as another process would. Only the logs are shared. */
  open(log: Log): EventStore;
  /** Appends without pause until stopped, in a separate process if the adapter allows it. */
  startWriter(log: Log, name: string): Promise<Writer>;
  /** Opens a transaction with a snapshot of the log, and returns the function that ends it. */
  holdSnapshot(): Promise<() => Promise<void>>;
  /** True when positions have no gaps. */
  readonly dense: boolean;
  /** Whether the store compares an append's basis at the append's position in the log, or only before the append. */
  readonly holdsBasis: boolean;
};

export const newEvent = (data: NewEvent['data'] = {}): NewEvent => ({
  id: randomUUID(),
  type: 'Tried',
  schemaVersion: 1,
  time: new Date('2031-05-04T03:02:01.007Z'),
  data,
  metadata: { tenantId: 'acme', actor: { type: 'user', id: 'ann' }, requestId: 'r1' },
});

export const newStream = () => `thing-${randomUUID()}`;

export const newAppend = (streamId = newStream(), expected: Append['expected'] = 0): Append => ({
  streamId,
  expected,
  events: [newEvent()],
});

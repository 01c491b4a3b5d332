/**
 * Runs store calls outside of the caller's database transaction. A store's batches and reads serve many callers, so
 * none belongs to the transaction of the caller that happened to start it. A caller that waits for the store inside a
 * transaction would also occupy two connections.
 */
import { expectNoTransaction, type Logger, outsideTransactions } from '@cardea/runtime';
import type { EventStore } from '../event-store.ts';

export function outsideAllTransactions(store: EventStore, logger?: Logger): EventStore {
  const outside =
    <Args extends unknown[], Answer>(what: string, work: (...args: Args) => Answer) =>
    (...args: Args): Answer => {
      expectNoTransaction(`the event store (${what})`, logger);
      return outsideTransactions(() => work(...args));
    };
  return {
    ...store,
    append: outside('append', store.append),
    readStream: outside('readStream', store.readStream),
    readLast: outside('readLast', store.readLast),
    readStreams: outside('readStreams', store.readStreams),
    readLog: outside('readLog', store.readLog),
    followLog: outside('followLog', store.followLog),
    head: outside('head', store.head),
    subscribe: outside('subscribe', store.subscribe),
  };
}

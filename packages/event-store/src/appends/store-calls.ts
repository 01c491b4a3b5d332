/** What both stores do around the calls of their callers. */
import { expectNoTransaction, type Logger, outsideTransactions } from '@cardea/runtime';
import type { EventStore } from '../event-store.ts';

/**
 * Runs store calls outside of the caller's database transaction. A store's batches and reads serve many callers, so
 * none belongs to the transaction of the caller that happened to start it. A caller that waits for the store inside a
 * transaction would also occupy two connections.
 */
export function outsideAllTransactions(store: EventStore, logger?: Logger): EventStore {
  const outside =
    <Args extends unknown[], Answer>(what: string, work: (...args: Args) => Answer) =>
    (...args: Args): Answer => {
      expectNoTransaction(`the event store (${what})`, logger);
      return outsideTransactions(work, ...args);
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

/** How long the stop of a process waits for pending appends. */
const DRAIN_MS = 5000;

/** The appends that a store has accepted and not finished, so that its stop can wait for them. */
export function inProgress() {
  const all = new Set<Promise<unknown>>();
  return {
    watch: <T>(work: Promise<T>): Promise<T> => {
      all.add(work);
      const done = () => void all.delete(work);
      work.then(done, done);
      return work;
    },
    /** Resolves when all pending appends have ended, or after the time limit. */
    drained: async (): Promise<void> => {
      const late = new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref());
      await Promise.race([Promise.allSettled(all), late]);
    },
  };
}

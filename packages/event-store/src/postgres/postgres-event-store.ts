import { processSession } from '@cardea/postgres';
import { type Logger, systemClock } from '@cardea/runtime';
import { inProgress, outsideAllTransactions } from '../appends/store-calls.ts';
import type { EventStore, Log } from '../event-store.ts';
import { storedEvents } from './append-batch.ts';
import { type ConnectionOptions, connection, ownConnections } from './connection.ts';
import { groupCommit } from './group-commit.ts';
import { logTails } from './log-tail.ts';
import { type NoticeSession, notices } from './notices.ts';
import { inTurn, logReader, streamReader } from './reading.ts';

/** Batches in flight. A third one would slow all down. */
const WRITERS = 2;

export type PostgresEventStoreOptions = ConnectionOptions & {
  /** The session of this process. Without it the stores create their own, which `close` ends. */
  readonly session?: NoticeSession;
  readonly logger?: Logger;
};

/** The stores of one process. Any number of logs share one set of connections. */
export interface PostgresEventStores {
  /** `close` of such a store does nothing. Close the whole instead. */
  forLog(log: Log): EventStore;
  close(): Promise<void>;
}

/** Connects on first use, and again after a connection broke. */
export function postgresEventStores(options: PostgresEventStoreOptions): PostgresEventStores {
  const { logger, session: shared, ...rest } = options;
  const ownSession = () => {
    const opened = processSession({ ...rest, clock: systemClock, log: logger });
    return { session: opened, closeSession: opened.close.bind(opened) };
  };
  const { session, closeSession } =
    shared === undefined ? ownSession() : { session: shared, closeSession: async () => {} };
  // Followers of a log read it from memory, so one connection is enough for all reads.
  const own = ownConnections();
  const reader = inTurn(connection(rest, own.add));

  const readStream = streamReader(reader);
  const { readLog: readTable, heads } = logReader(reader);
  const tailOf = logTails(readTable);
  const onHeard = (log: Log) => tailOf(log).heard();
  const notified = notices({ session, heads, onHeard, own, logger });
  const writers = Array.from({ length: WRITERS }, () => connection(rest, own.add));
  const append = groupCommit(writers, {
    onStored: (log, stored, told) => {
      tailOf(log).stored(() => storedEvents(log, stored));
      notified.stored(log, stored.at(-1)?.position ?? 0n, told);
    },
    isNoticeDue: notified.isDue,
  });
  const head = askedTogether(heads);
  const appending = inProgress();

  return {
    forLog: (log) =>
      outsideAllTransactions(
        {
          log,
          append: (appends) => appending.watch(append(log, appends)),
          readStream: (streamId, from = 1) => readStream(log, { streamId, from }),
          readLast: async (streamId) => (await readStream(log, { streamId, from: 'last' }))[0],
          // Reads of one turn of the event loop share a query.
          readStreams: (reads) => Promise.all(reads.map((read) => readStream(log, read))),
          readLog: (of, after, limit) => tailOf(of).read(after, limit),
          followLog: (of, after, limit) => tailOf(of).follow(after, limit),
          head,
          subscribe: notified.subscribe,
          close: async () => {},
        },
        logger,
      ),
    close: async () => {
      await appending.drained();
      await notified.close();
      await closeSession();
      const all = [...writers, reader];
      await Promise.all(all.map((each) => each.close()));
    },
  };
}

/** Heads that are requested in one tick are read in one query. */
function askedTogether(heads: (logs: readonly Log[]) => Promise<ReadonlyMap<Log, bigint>>) {
  let asked: Set<Log> | undefined;
  let answer: Promise<ReadonlyMap<Log, bigint>> = Promise.resolve(new Map());
  return async (log: Log): Promise<bigint> => {
    if (asked === undefined) {
      const logs = new Set<Log>();
      asked = logs;
      answer = Promise.resolve().then(() => {
        asked = undefined;
        return heads([...logs]);
      });
    }
    asked.add(log);
    return (await answer).get(log) ?? 0n;
  };
}

/** One log with its own connections. */
export function postgresEventStore(
  options: PostgresEventStoreOptions & { readonly log: Log },
): EventStore {
  const { log, ...rest } = options;
  const stores = postgresEventStores(rest);
  return { ...stores.forLog(log), close: stores.close };
}

/**
 * The event store on EventStoreDB. A log is `$all` filtered by the prefix of its streams. The position of
 * an event is its commit position, so the positions of one log have large gaps.
 */

import { failpoint, type Logger, metrics } from '@cardea/runtime';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { checkSizes, turns } from '../appends/limits.ts';
import { inProgress, outsideAllTransactions } from '../appends/store-calls.ts';
import {
  type Append,
  type AppendOutcome,
  type EventStore,
  EventStoreOverloaded,
  type Log,
  type RecordedEvent,
} from '../event-store.ts';
import { STREAM_PAGE_EVENTS, STREAM_TAIL_EVENTS } from '../states/stream-pages.ts';
import { type Appending, appendOne } from './appending.ts';
import { concurrencyLimit } from './concurrency-limit.ts';
import { type EventStoreDbConnection, eventStoreDbConnection } from './connection.ts';
import { type KnownIds, knownIds } from './known-ids.ts';
import { type LogEnds, logEnds } from './log-ends.ts';
import { logFeeds } from './log-feed.ts';
import { logRequest, recorded, streamRequest, type Written, wireName, written } from './wire.ts';

/** The server's default limit is 1 MiB. */
const APPEND_BYTES_MAX = 1_000_000;
/** Appends of this process that wait or run, over all logs. More are refused at once. */
const APPENDS_MAX = 4096;
const APPENDS_BYTES_MAX = 64_000_000;
/** The limit is below the 100 concurrent calls that a connection allows. */
const APPENDS_UNDER_WAY_MAX = 48;
const READS_UNDER_WAY_MAX = 32;
const READS_WAITING_MAX = 4096;
/** Events of a stream that one page of the read for ids requests. */
const IDS_PAGE_EVENTS = 500;

export type EventStoreDbOptions = {
  /** `esdb://host:port?tls=false` for one node, `esdb+discover://…` for a cluster. */
  readonly url: string;
  readonly logger?: Logger;
};

/** The stores of one process. Any number of logs share one connection. */
export interface EventStoreDbStores {
  /** `close` of such a store does nothing. Close the whole instead. */
  forLog(log: Log): EventStore;
  close(): Promise<void>;
}

/** Connects on first use, and again after the connection broke. */
export function eventStoreDbStores({ url, logger }: EventStoreDbOptions): EventStoreDbStores {
  const direct = eventStoreDbConnection(url);
  const toRead = concurrencyLimit({
    underWayMax: READS_UNDER_WAY_MAX,
    waitingMax: READS_WAITING_MAX,
  });
  const connection: EventStoreDbConnection = {
    ...direct,
    read: (request) => toRead(() => direct.read(request)),
  };
  const ends = logEnds(connection);
  const feeds = logFeeds({ connection, ends, logger });
  const ids = knownIds();
  const reader = streamReader(connection, ids);
  const append = appender({ connection, ids, ...reader }, (log, position) =>
    feeds.stored(log, position),
  );
  const appending = inProgress();
  const readAny: EventStore['readLog'] = (of, after, limit) =>
    readLog({ connection, ends }, of, { after, limit });

  return {
    forLog: (log) =>
      outsideAllTransactions(
        {
          log,
          append: (appends) => appending.watch(append(log, appends)),
          readStream: (streamId, from = 1) => reader.read(log, { streamId, from }),
          readLast: async (streamId) => (await reader.read(log, { streamId, from: 'last' }))[0],
          readStreams: (reads) => Promise.all(reads.map((read) => reader.read(log, read))),
          readLog: readAny,
          followLog: readAny,
          head: ends.head,
          subscribe: async (of, onAppend) => feeds.subscribe(of, onAppend),
          close: async () => {},
        },
        logger,
      ),
    close: async () => {
      await appending.drained();
      await feeds.close();
      await direct.close();
    },
  };
}

function appender(needs: Appending, onStored: (log: Log, position: bigint) => void) {
  const inTurn = turns(APPENDS_MAX); // Appends to one stream keep their order.
  const toAppend = concurrencyLimit({
    underWayMax: APPENDS_UNDER_WAY_MAX,
    waitingMax: APPENDS_MAX,
  });
  let count = 0;
  let bytes = 0;

  const one = async (log: Log, each: Written): Promise<AppendOutcome> => {
    await failpoint('append.before_commit');
    const outcome = await appendOne(needs, log, each);
    await failpoint('append.after_commit');
    if (!outcome.appended || outcome.repeated) return outcome;
    metrics.appendBatchEvents.observe(each.events.length);
    onStored(log, outcome.position);
    return outcome;
  };

  return async (log: Log, appends: readonly Append[]): Promise<readonly AppendOutcome[]> => {
    const all = appends.map(written);
    checkSizes(all, APPEND_BYTES_MAX);
    const more = all.reduce((sum, each) => sum + each.bytes, 0);
    if (count + all.length > APPENDS_MAX || bytes + more > APPENDS_BYTES_MAX) {
      throw new EventStoreOverloaded('too many appends wait');
    }
    count += all.length;
    bytes += more;
    metrics.appendQueue.set(count);
    const outcomes = all.map((each) =>
      inTurn(wireName(log, each.streamId), () => toAppend(() => one(log, each))).finally(() => {
        count--;
        bytes -= each.bytes;
        metrics.appendQueue.set(count);
      }),
    );
    return Promise.all(outcomes);
  };
}

function streamReader(
  connection: EventStoreDbConnection,
  ids: KnownIds,
): Pick<Appending, 'readStream' | 'read' | 'learn'> {
  const page = async (log: Log, streamId: string, from: number, count: number) => {
    const name = wireName(log, streamId);
    const answers = await connection.read(streamRequest(name, from, count));
    const events = eventsOf(log, answers);
    ids.learn(
      name,
      from,
      events.map(({ id }) => id),
    );
    return events;
  };
  const readStream: Appending['readStream'] = (log, streamId, from) =>
    page(log, streamId, from, STREAM_PAGE_EVENTS);
  return {
    readStream,
    read: async (log, { streamId, from }) => {
      if (typeof from === 'number') return await readStream(log, streamId, Math.max(from, 1));
      const count = from === 'last' ? 1 : STREAM_TAIL_EVENTS;
      const answers = await connection.read(streamRequest(wireName(log, streamId), 'last', count));
      return eventsOf(log, answers).reverse();
    },
    learn: async (log, streamId, through) => {
      const name = wireName(log, streamId);
      for (let known = ids.of(name).through; known < through; known = ids.of(name).through) {
        const events = await page(log, streamId, known + 1, IDS_PAGE_EVENTS);
        if (events.length < IDS_PAGE_EVENTS) break;
      }
      return ids.of(name);
    },
  };
}

const eventsOf = (log: Log, answers: readonly ReadResp[]): RecordedEvent[] =>
  answers.map((answer) => recorded(log, answer)).filter((event) => event !== undefined);

/** The server's first result is the event at the given position, if that belongs to the log. */
async function readLog(
  { connection, ends }: { readonly connection: EventStoreDbConnection; readonly ends: LogEnds },
  log: Log,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<readonly RecordedEvent[]> {
  const from = ends.startBehind(log, after);
  const answers = await connection.read(logRequest(log, from, limit + 1));
  return eventsOf(log, answers)
    .filter(({ position }) => position > after)
    .slice(0, limit);
}

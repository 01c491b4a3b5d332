/**
 * Wakes readers that wait for a log: at once after appends of this process, through a subscription after
 * those of other processes, and by polling once a second in case both were missed. A subscription that was
 * dropped is made again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@cardea/runtime';
import type { Log } from '../event-store.ts';
import type { EventStoreDbConnection } from './connection.ts';
import type { LogEnds } from './log-ends.ts';
import { followRequest, positionOf } from './wire.ts';

const LOOK_EVERY_MS = 1000;
const BACK_OFF_MIN_MS = 50;
const BACK_OFF_MAX_MS = 5000;

export type LogFeeds = {
  /** Call it when this process has stored an event at this position. */
  stored(log: Log, position: bigint): void;
  subscribe(log: Log, onAppend: () => void): () => Promise<void>;
  close(): Promise<void>;
};

type Dependencies = {
  readonly connection: EventStoreDbConnection;
  readonly ends: LogEnds;
  readonly logger: Logger | undefined;
};

type Feed = {
  readonly listeners: Set<() => void>;
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
  isWaking: boolean;
};

export function logFeeds(needs: Dependencies): LogFeeds {
  const feeds = new Map<Log, Feed>();

  /** Several events in one tick wake a reader once. */
  const wake = (log: Log): void => {
    const feed = feeds.get(log);
    if (feed === undefined || feed.isWaking) return;
    feed.isWaking = true;
    queueMicrotask(() => {
      feed.isWaking = false;
      for (const listener of feed.listeners) listener();
    });
  };
  const start = (log: Log): Feed => {
    const stop = new AbortController();
    const both = [follow, look].map((loop) => loop(needs, log, () => wake(log), stop.signal));
    return { listeners: new Set(), stop, ended: Promise.all(both), isWaking: false };
  };
  const end = async (log: Log, feed: Feed): Promise<void> => {
    if (feeds.get(log) === feed) feeds.delete(log);
    feed.stop.abort();
    await feed.ended;
  };

  return {
    stored: (log, position) => {
      needs.ends.saw(log, position);
      wake(log);
    },
    subscribe: (log, onAppend) => {
      const feed = feeds.get(log) ?? start(log);
      feeds.set(log, feed);
      const listener = () => onAppend(); // A new function, so that one `onAppend` may subscribe twice.
      feed.listeners.add(listener);
      return async () => {
        feed.listeners.delete(listener);
        if (feed.listeners.size === 0) await end(log, feed);
      };
    },
    close: async () => {
      await Promise.all([...feeds].map(([log, feed]) => end(log, feed)));
    },
  };
}

/** Starts where the search of the log ended. Readers that are woken read from their own position. */
async function follow(
  { connection, ends, logger }: Dependencies,
  log: Log,
  wake: () => void,
  signal: AbortSignal,
): Promise<void> {
  let backOffMs = BACK_OFF_MIN_MS;
  while (!signal.aborted) {
    try {
      if (ends.examined(log) === undefined) await ends.head(log);
      const request = followRequest(log, ends.examined(log) ?? 0n);
      const onConfirmed = () => {
        backOffMs = BACK_OFF_MIN_MS;
        wake(); // Wakes for events that were stored while there was no subscription.
      };
      await connection.follow(
        request,
        {
          onConfirmed,
          onAnswer: (answer) => {
            const position = positionOf(answer);
            const checkpoint = answer.getCheckpoint()?.getCommitPosition();
            if (checkpoint !== undefined) ends.passed(log, BigInt(checkpoint));
            if (position === undefined) return;
            ends.saw(log, position);
            wake();
          },
        },
        signal,
      );
    } catch {
      logger?.debug({ log }, 'the event store dropped a subscription');
    }
    await pause(backOffMs, signal);
    backOffMs = Math.min(backOffMs * 2, BACK_OFF_MAX_MS);
  }
}

/** A frozen server neither drops the subscription nor sends events, so the log is polled too. */
async function look(
  { ends }: Dependencies,
  log: Log,
  wake: () => void,
  signal: AbortSignal,
): Promise<void> {
  let seen: bigint | undefined;
  while (!signal.aborted) {
    try {
      const head = await ends.head(log);
      if (seen !== head) wake();
      seen = head;
    } catch {
      // Errors are left to the next poll.
    }
    await pause(LOOK_EVERY_MS, signal);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {});

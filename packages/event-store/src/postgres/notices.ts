import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessSession } from '@cardea/postgres';
import type { Logger } from '@cardea/runtime';
import type { Log } from '../event-store.ts';
import type { OwnConnections } from './connection.ts';
import { LOG_NUMBERS } from './log-number.ts';

/** Each log has its own channel, because the server sends a notice to every session that listens to the channel. */
const channelOf = (log: Log): string => `cardea_events_${LOG_NUMBERS[log]}`;
/** The payload that a process sends when it begins to listen. A replica of an earlier release waits for it. */
const JOINED = 'joined';
/**
 * The interval of the poll. A notice may be lost with the process that was to send it; the poll then finds the events.
 */
const POLL_MS = 9000;
/** The shortest time between two notices for one log. */
const NOTICE_GAP_MS = 10;
/** An append without a notice is announced by the next append's notice, or after this time by a separate statement. */
const UNTOLD_MS = 15;

type Heads = (logs: readonly Log[]) => Promise<ReadonlyMap<Log, bigint>>;

/** The parts of the session that notices of appends use. */
export type NoticeSession = Pick<ProcessSession, 'listen' | 'notify' | 'replicas'>;

export type NoticesDependencies = {
  readonly session: NoticeSession;
  readonly heads: Heads;
  /** Called before the log's subscribers, when another process may have appended to the log. */
  readonly onHeard: (log: Log) => void;
  /** The connections that append. Their own notices are ignored here. */
  readonly own: OwnConnections;
  readonly logger: Logger | undefined;
};

/**
 * Wakes subscribers in this process directly, and those in other replicas by NOTIFY, if there are any. An append
 * contains the notice itself, but not more often than the gap, because commits with a notice queue at one lock of the
 * server.
 */
export function notices({ session, heads, onHeard, own, logger }: NoticesDependencies) {
  const listeners = new Map<Log, Set<{ readonly onAppend: () => void }>>();
  const seen = new Map<Log, bigint>();
  const stopping = new AbortController();
  let polling: Promise<void> | undefined;

  const wake = (log: Log) => {
    for (const { onAppend } of listeners.get(log) ?? []) queueMicrotask(onAppend);
  };
  const hear = (log: Log) => {
    onHeard(log);
    wake(log);
  };
  const tellOthers = teller(session);
  const ends = [session.replicas.onHeard(tellOthers.ofSilent)];

  /** Finds what was appended before a log was subscribed to, and what was never announced. */
  const poll = sharingNext(async () => {
    const before = new Map(seen);
    for (const [log, head] of await heads([...listeners.keys()])) {
      const known = before.get(log);
      if (known !== undefined && head <= known) continue;
      seen.set(log, head);
      hear(log);
    }
  });
  const pollQuietly = async (): Promise<void> => {
    await poll().catch(() => logger?.debug({}, 'the event store was not heard of'));
  };
  const keepPolling = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pollQuietly();
      await sleep(POLL_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  };

  const listen = (log: Log): void => {
    const channel = channelOf(log);
    const end = session.listen(channel, (payload, from) => {
      if (payload === undefined) {
        session.notify([channel], JOINED).catch(() => {}); // The next session announces this process again.
        if (!stopping.signal.aborted) void pollQuietly();
      } else if (payload !== JOINED && !own.has(from)) hear(log);
    });
    ends.push(end);
  };

  return {
    isDue: tellOthers.isDue,
    /**
     * Call it after this process has stored events up to `position`. `told` is true if the append contained a notice.
     */
    stored: (log: Log, position: bigint, told: boolean) => {
      if (position > (seen.get(log) ?? 0n)) seen.set(log, position);
      wake(log);
      tellOthers.stored(log, told);
    },
    subscribe: async (log: Log, onAppend: () => void): Promise<() => Promise<void>> => {
      const listener = { onAppend }; // A new object, so that one `onAppend` may subscribe twice.
      const all = listeners.get(log) ?? new Set();
      const isFirst = !listeners.has(log);
      listeners.set(log, all.add(listener));
      if (isFirst) listen(log);
      polling ??= keepPolling();
      return async () => {
        all.delete(listener);
      };
    },
    close: async () => {
      stopping.abort();
      for (const end of ends) end();
      await Promise.all([polling, tellOthers.flush()]);
    },
  };
}

/** Callers that arrive while a run is under way share the next one. */
function sharingNext(run: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    next = undefined;
    current = run().finally(() => {
      current = undefined;
    });
    return current;
  };
  return () => {
    if (current === undefined) return start();
    next ??= current.then(start, start);
    return next;
  };
}

/** A failed notice is sent at the next sign of other processes. Until then their poll replaces it. */
function teller(session: NoticeSession) {
  const { replicas } = session;
  const lastMs = new Map<Log, number>();
  const untold = new Map<Log, NodeJS.Timeout>();
  /** Logs with appends that were not announced, because there was no other process. */
  const silent = new Set<Log>();
  const told = (log: Log): void => {
    lastMs.set(log, performance.now());
    clearTimeout(untold.get(log));
    untold.delete(log);
  };
  const tell = async (log: Log): Promise<void> => {
    told(log);
    await session.notify([channelOf(log)], String(LOG_NUMBERS[log])).catch(() => silent.add(log));
  };
  const later = (log: Log): void => {
    if (!untold.has(log)) untold.set(log, setTimeout(() => void tell(log), UNTOLD_MS).unref());
  };
  return {
    isDue: (log: Log): boolean =>
      replicas.arePossible() &&
      performance.now() - (lastMs.get(log) ?? Number.NEGATIVE_INFINITY) >= NOTICE_GAP_MS,
    stored: (log: Log, isTold: boolean): void => {
      if (isTold) told(log);
      else if (replicas.arePossible()) later(log);
      else silent.add(log);
    },
    /** Other processes may exist now. */
    ofSilent: (): void => {
      for (const log of silent) later(log);
      silent.clear();
    },
    /** Sends the notices that are still pending. */
    flush: () => Promise.all([...untold.keys()].map(tell)),
  };
}

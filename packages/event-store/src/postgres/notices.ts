import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICE_NAMES } from '@cardea/contracts';
import type { Logger } from '@cardea/runtime';
import type { QueryConfig } from 'pg';
import type { Log } from '../event-store.ts';
import { type ConnectionOptions, connection } from './connection.ts';
import { logNumber } from './log-number.ts';

const CHANNEL = 'cardea_events';
/** A lost session is opened again by then, and the heads are looked at. */
const HEARTBEAT_MS = 3000;
/** A notice may be lost with the process that was to send it; the poll then finds the events. */
const POLL_EVERY_BEATS = 3;
/** The shortest time between two notices for one log. */
const NOTICE_GAP_MS = 10;

type Heads = (logs: readonly Log[]) => Promise<ReadonlyMap<Log, bigint>>;

export type NoticesDependencies = {
  readonly heads: Heads;
  /** Another process may have appended to the log; called before its subscribers are. */
  readonly onHeard: (log: Log) => void;
  readonly logger: Logger | undefined;
};

/**
 * Wakes subscribers in this process directly, and those in other processes by NOTIFY. The NOTIFY is sent
 * after the commit, not inside: there it would make all commits of the database queue at one lock.
 */
export function notices(options: ConnectionOptions, needs: NoticesDependencies) {
  const { heads, onHeard, logger } = needs;
  const listeners = new Map<Log, Set<() => void>>();
  const seen = new Map<Log, bigint>();
  const stopping = new AbortController();
  let polling: Promise<void> | undefined;

  const wake = (log: Log) => {
    for (const listener of listeners.get(log) ?? []) queueMicrotask(listener);
  };
  const hear = (log: Log) => {
    onHeard(log);
    wake(log);
  };

  let ownPid: number | null = null;
  let beatsToPoll = 0;
  const line = connection({ ...options, settings: '-c synchronous_commit=off' }, async (client) => {
    client.on('notification', ({ processId, payload }) => {
      const log = SERVICE_NAMES.find((name) => String(logNumber(name)) === payload);
      if (log !== undefined && processId !== ownPid) hear(log);
    });
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    ownPid = rows[0]?.pid ?? null;
    beatsToPoll = 0; // notices may have been missed
    if (listeners.size > 0) await client.query(`LISTEN ${CHANNEL}`);
  });

  let turn: Promise<unknown> = Promise.resolve();
  const say = (query: QueryConfig): Promise<unknown> => {
    const mine = turn.then(() => line.query(query));
    turn = mine.catch(() => {}); // one query at a time; the caller gets the error
    return mine;
  };

  const tellOthers = teller(say, stopping.signal);

  const beat = async () => {
    await say({ text: `LISTEN ${CHANNEL}` }); // also reopens a broken connection
    if (beatsToPoll > 0) {
      beatsToPoll -= 1;
      return;
    }
    await pollOnce();
    beatsToPoll = POLL_EVERY_BEATS - 1;
  };
  const pollOnce = async () => {
    const before = new Map(seen);
    for (const [log, head] of await heads([...listeners.keys()])) {
      const known = before.get(log);
      if (known !== undefined && head <= known) continue;
      seen.set(log, head);
      hear(log);
    }
  };
  const poll = async () => {
    while (!stopping.signal.aborted) {
      await beat().catch(() => logger?.debug({}, 'the event store was not heard of'));
      await sleep(HEARTBEAT_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  };

  return {
    /** Events up to `position` were stored by this process. */
    stored: (log: Log, position: bigint) => {
      if (position > (seen.get(log) ?? 0n)) seen.set(log, position);
      wake(log);
      tellOthers(log);
    },
    subscribe: async (log: Log, onAppend: () => void): Promise<() => Promise<void>> => {
      const listener = () => onAppend(); // a new function, so that one `onAppend` may subscribe twice
      const all = listeners.get(log) ?? new Set();
      listeners.set(log, all.add(listener));
      polling ??= poll();
      return async () => {
        all.delete(listener);
      };
    },
    close: async () => {
      stopping.abort();
      await polling;
      await line.close();
    },
  };
}

/** A failed notice is ignored: the poll of the other processes replaces it. */
function teller(say: (query: QueryConfig) => Promise<unknown>, stopping: AbortSignal) {
  const toTell = new Set<Log>();
  let telling = false;
  const tell = async () => {
    telling = true;
    while (toTell.size > 0 && !stopping.aborted) {
      const logs = [...toTell].map((log) => String(logNumber(log)));
      toTell.clear();
      const text = 'SELECT pg_notify($1, log) FROM unnest($2::text[]) AS log';
      await say({ name: 'notify', text, values: [CHANNEL, logs] }).catch(() => {});
      await sleep(NOTICE_GAP_MS);
    }
    telling = false;
  };
  return (log: Log): void => {
    toTell.add(log);
    if (!telling) void tell();
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICE_NAMES } from '@cardea/contracts';
import type { Logger } from '@cardea/runtime';
import type { QueryConfig, QueryResultRow } from 'pg';
import type { Log } from '../event-store.ts';
import { type ConnectionOptions, connection, SESSION_KIND } from './connection.ts';
import { logNumber } from './log-number.ts';
import { JOINED, type OwnSessions, otherProcesses } from './other-processes.ts';

/** One of each log: the server sends a notice to whoever listens to its channel, whatever it says. */
const channelOf = (log: Log): string => `cardea_events_${logNumber(log)}`;
const NOTIFY = 'SELECT pg_notify(channel, $2) FROM unnest($1::text[]) AS channel';
const BEAT: QueryConfig = { name: 'beat', text: 'SELECT 1' };
/** A lost session is opened again by then, and the heads are looked at. */
const HEARTBEAT_MS = 3000;
/** A notice may be lost with the process that was to send it; the poll then finds the events. */
const POLL_EVERY_BEATS = 3;
/** The shortest time between two notices for one log. */
const NOTICE_GAP_MS = 10;
/** An append without a notice is told by the next one, or after this time by a statement of its own. */
const UNTOLD_MS = 15;

type Heads = (logs: readonly Log[]) => Promise<ReadonlyMap<Log, bigint>>;

export type NoticesDependencies = {
  readonly heads: Heads;
  /** Another process may have appended to the log; called before its subscribers are. */
  readonly onHeard: (log: Log) => void;
  readonly own: OwnSessions;
  readonly logger: Logger | undefined;
};

/**
 * Wakes subscribers in this process directly, and those in other replicas by NOTIFY, where there are any.
 * An append carries the notice itself, but not more than one in a while: commits with a notice queue at one
 * lock of the server.
 */
export function notices(options: ConnectionOptions, needs: NoticesDependencies) {
  const { heads, onHeard, own, logger } = needs;
  const listeners = new Map<Log, Set<() => void>>();
  const seen = new Map<Log, bigint>();
  const stopping = new AbortController();
  let beating: Promise<void> | undefined;

  const wake = (log: Log) => {
    for (const listener of listeners.get(log) ?? []) queueMicrotask(listener);
  };
  const hear = (log: Log) => {
    onHeard(log);
    wake(log);
  };

  const others = otherProcesses({ kind: SESSION_KIND, service: options.service, own: own.all });
  let beatsToPoll = 0;
  const line = noticeLine(options, {
    own,
    followed: () => [...listeners.keys()],
    onOpened: () => {
      beatsToPoll = 0; // notices may have been missed
    },
    onOthers: () => {
      others.heard();
      if (!stopping.signal.aborted) tellOthers.ofSilent();
    },
    onLog: hear,
  });
  const tellOthers = teller(line.say, others.areReplicasPossible);

  const poll = async () => {
    const before = new Map(seen);
    for (const [log, head] of await heads([...listeners.keys()])) {
      const known = before.get(log);
      if (known !== undefined && head <= known) continue;
      seen.set(log, head);
      hear(log);
    }
  };
  const beat = async () => {
    await line.listen(); // also reopens a broken connection
    if (beatsToPoll === 0) await Promise.all([poll(), others.look(line.say)]);
    beatsToPoll = beatsToPoll === 0 ? POLL_EVERY_BEATS - 1 : beatsToPoll - 1;
  };

  /** What came before a log was listened to has to be looked for. */
  const listenAtOnce = async (): Promise<void> => {
    await line.listen();
    await poll();
  };

  return {
    isDue: tellOthers.isDue,
    /** Events up to `position` were stored by this process; `told`: with a notice. */
    stored: (log: Log, position: bigint, told: boolean) => {
      if (position > (seen.get(log) ?? 0n)) seen.set(log, position);
      wake(log);
      tellOthers.stored(log, told);
    },
    subscribe: async (log: Log, onAppend: () => void): Promise<() => Promise<void>> => {
      const listener = () => onAppend(); // a new function, so that one `onAppend` may subscribe twice
      const all = listeners.get(log) ?? new Set();
      const isFirst = !listeners.has(log);
      listeners.set(log, all.add(listener));
      if (beating === undefined) beating = keepBeating(beat, stopping.signal, logger);
      else if (isFirst) listenAtOnce().catch(() => {}); // the next beat tries again
      return async () => {
        all.delete(listener);
      };
    },
    close: async () => {
      stopping.abort();
      await Promise.all([beating, tellOthers.flush()]);
      await line.close();
    },
  };
}

type LineDependencies = {
  readonly own: OwnSessions;
  /** The logs that something here follows. */
  readonly followed: () => readonly Log[];
  readonly onOpened: () => void;
  /** Other processes were heard of, or may have been missed. */
  readonly onOthers: () => void;
  readonly onLog: (log: Log) => void;
};

/** The session in which this process hears and tells. The first thing that it tells of a log is that it listens. */
function noticeLine(options: ConnectionOptions, needs: LineDependencies) {
  const { own, followed, onOpened, onOthers, onLog } = needs;
  const joined = new Set<Log>();
  const unjoined = (): readonly Log[] => followed().filter((log) => !joined.has(log));
  const join = async (logs: readonly Log[], ask: (query: QueryConfig) => Promise<unknown>) => {
    const channels = logs.map(channelOf);
    await ask({ text: channels.map((channel) => `LISTEN ${channel}`).join('; ') });
    for (const log of logs) joined.add(log);
    await ask({ name: 'notify', text: NOTIFY, values: [channels, JOINED] });
  };
  const line = connection({ ...options, settings: '-c synchronous_commit=off' }, async (client) => {
    client.on('notification', ({ processId, payload }) => {
      if (own.has(processId)) return;
      onOthers();
      const log = SERVICE_NAMES.find((name) => String(logNumber(name)) === payload);
      if (log !== undefined) onLog(log);
    });
    client.on('end', onOthers);
    await own.add(client);
    onOpened();
    onOthers();
    joined.clear();
    const logs = unjoined();
    if (logs.length > 0) await join(logs, (query) => client.query(query));
  });
  let turn: Promise<unknown> = Promise.resolve();
  const say = <Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> => {
    const mine = turn.then(() => line.query<Row>(query));
    turn = mine.catch(() => {}); // one query at a time; the caller gets the error
    return mine;
  };
  return {
    say,
    listen: async (): Promise<void> => {
      await say(BEAT); // a session that it opens joins by itself
      const logs = unjoined();
      if (logs.length > 0) await join(logs, say);
    },
    close: () => line.close(),
  };
}

async function keepBeating(
  beat: () => Promise<void>,
  stop: AbortSignal,
  logger: Logger | undefined,
): Promise<void> {
  while (!stop.aborted) {
    await beat().catch(() => logger?.debug({}, 'the event store was not heard of'));
    await sleep(HEARTBEAT_MS, undefined, { signal: stop, ref: false }).catch(() => {});
  }
}

/** A failed notice is ignored: the poll of the other processes replaces it. */
function teller(say: (query: QueryConfig) => Promise<unknown>, areReplicasPossible: () => boolean) {
  const lastMs = new Map<Log, number>();
  const untold = new Map<Log, NodeJS.Timeout>();
  /** Logs with appends that nobody was told of, because nobody was there. */
  const silent = new Set<Log>();
  const told = (log: Log): void => {
    lastMs.set(log, performance.now());
    clearTimeout(untold.get(log));
    untold.delete(log);
  };
  const tell = async (log: Log): Promise<void> => {
    told(log);
    const values = [[channelOf(log)], String(logNumber(log))];
    await say({ name: 'notify', text: NOTIFY, values }).catch(() => {});
  };
  const later = (log: Log): void => {
    if (!untold.has(log)) untold.set(log, setTimeout(() => void tell(log), UNTOLD_MS).unref());
  };
  return {
    isDue: (log: Log): boolean =>
      areReplicasPossible() &&
      performance.now() - (lastMs.get(log) ?? Number.NEGATIVE_INFINITY) >= NOTICE_GAP_MS,
    stored: (log: Log, isTold: boolean): void => {
      if (isTold) told(log);
      else if (areReplicasPossible()) later(log);
      else silent.add(log);
    },
    /** Others may be there now. */
    ofSilent: (): void => {
      for (const log of silent) later(log);
      silent.clear();
    },
    /** Tells what was not told yet. */
    flush: () => Promise.all([...untold.keys()].map(tell)),
  };
}

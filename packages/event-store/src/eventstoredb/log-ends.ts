/**
 * The last event of each log. `$all` mixes the events of all logs, so this process remembers how far it has
 * searched it: the end of a log without new events is found without reading the other logs' events again.
 */
import type { Log } from '../event-store.ts';
import type { EventStoreDbConnection } from './connection.ts';
import { lastRequest, logRequest, positionOf } from './wire.ts';

/** Events of a log that are read after its known end. */
const LOOK_EVENTS = 32;

export type LogEnds = {
  /** The position of the log's last event, as of a time after the call; 0n when it has none. */
  head(log: Log): Promise<bigint>;
  /**
   * Call it when an event of the log was found at this position, and each event before it was read or does not have to
   * be read.
   */
  saw(log: Log, position: bigint): void;
  /** Call it when the log has no event between its known last one and this position. */
  passed(log: Log, position: bigint): void;
  /** The position up to which the log was searched; undefined before the first search. */
  examined(log: Log): bigint | undefined;
  /**
   * The position from which to read events after `after`. It is as late as possible without missing an event of the
   * log.
   */
  startBehind(log: Log, after: bigint): bigint;
};

type End = { readonly last: bigint; readonly examined: bigint };

export function logEnds(connection: EventStoreDbConnection): LogEnds {
  const ends = new Map<Log, End>();
  const endOfAll = askedTogether(() => last(connection));

  const saw = (log: Log, position: bigint): void => {
    const known = ends.get(log);
    // Only a search finds the first end of a log. An event at or before the searched position does not change a known
    // end.
    if (known === undefined || position <= known.examined) return;
    ends.set(log, { last: position, examined: position });
  };
  const passed = (log: Log, position: bigint): void => {
    const known = ends.get(log);
    if (known !== undefined && position > known.examined)
      ends.set(log, { ...known, examined: position });
  };

  /** Reads what was stored since the last search. When there is much, reads only the last event. */
  const lookOn = async (log: Log, to: bigint): Promise<void> => {
    const from = ends.get(log)?.examined ?? 0n;
    const found = await connection.read(logRequest(log, from, LOOK_EVENTS));
    const isAll = found.length < LOOK_EVENTS;
    const answer = found.at(-1);
    if (!isAll) saw(log, await last(connection, log));
    else if (answer !== undefined) saw(log, positionOf(answer) ?? 0n);
    passed(log, to);
  };

  return {
    saw,
    passed,
    examined: (log) => ends.get(log)?.examined,
    startBehind: (log, after) => {
      const known = ends.get(log);
      return known !== undefined && after >= known.last && after < known.examined
        ? known.examined
        : after;
    },
    head: async (log) => {
      const end = await endOfAll();
      const known = ends.get(log);
      if (known === undefined) {
        const first = await last(connection, log);
        if (!ends.has(log)) ends.set(log, { last: first, examined: first });
        saw(log, first); // Another search may have returned an older state than this one.
        passed(log, end);
      } else if (known.examined < end) await lookOn(log, end);
      return ends.get(log)?.last ?? 0n;
    },
  };
}

async function last(connection: EventStoreDbConnection, log?: Log): Promise<bigint> {
  const [answer] = await connection.read(lastRequest(log));
  return answer === undefined ? 0n : (positionOf(answer) ?? 0n);
}

/** Calls within one tick share one result, which is read after the last of them. */
function askedTogether<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    asked ??= Promise.resolve().then(() => {
      asked = undefined;
      return ask();
    });
    return asked;
  };
}

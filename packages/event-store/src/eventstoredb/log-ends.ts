/**
 * Where each log ends. Events of others stand between those of a log, so this process remembers how far it
 * has looked at all of them: the end of a quiet log is found without reading the others' events again.
 */
import type { Log } from '../event-store.ts';
import type { EventStoreDbConnection } from './connection.ts';
import { lastRequest, logRequest, positionOf } from './wire.ts';

/** Events of a log that a look behind the known end asks for. */
const LOOK_EVENTS = 32;

export type LogEnds = {
  /** The log's last event, as of a moment after the call; 0n when it has none. */
  head(log: Log): Promise<bigint>;
  /** An event of the log stands here, and what stood before it was seen or needs no look. */
  saw(log: Log, position: bigint): void;
  /** Nothing of the log stands between its last event and here. */
  passed(log: Log, position: bigint): void;
  /** Up to where the log was looked at; undefined before the first look. */
  examined(log: Log): bigint | undefined;
  /** From where to read what lies behind `after`: as far on as holds nothing of the log. */
  startBehind(log: Log, after: bigint): bigint;
};

type End = { readonly last: bigint; readonly examined: bigint };

export function logEnds(connection: EventStoreDbConnection): LogEnds {
  const ends = new Map<Log, End>();
  const endOfAll = askedTogether(() => last(connection));

  const saw = (log: Log, position: bigint): void => {
    const known = ends.get(log);
    // One that was never looked at, or looked at further: this event says nothing of its end.
    if (known === undefined || position <= known.examined) return;
    ends.set(log, { last: position, examined: position });
  };
  const passed = (log: Log, position: bigint): void => {
    const known = ends.get(log);
    if (known !== undefined && position > known.examined)
      ends.set(log, { ...known, examined: position });
  };

  /** Looks at what was stored since the last look; of much, at the last one alone. */
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
        saw(log, first); // another look may have been answered from before this one was asked
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

/** Those who ask in one tick get one answer, which is asked for behind them all. */
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

import { trace } from '@opentelemetry/api';
import pino, { type DestinationStream } from 'pino';
import type { Logger } from '../ports.ts';
import { publicError } from './public-error.ts';
import { sqlConditionOf } from './sql-conditions.ts';

/** Equal lines beyond this many within a second become one line with their number. */
const EQUAL_LINES_PER_SECOND = 10;
const WINDOW_MS = 1000;
/**
 * The maximum number of different lines that are counted within a second. Further lines are written without counting.
 */
const COUNTED_LINES_MAX = 1000;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
const WEIGHT: Record<LogLevel, number> = { debug: 20, info: 30, warn: 40, error: 50 };
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** The root of a process's log. Its level also applies to all children. */
export interface RootLogger extends Logger {
  readonly level: LogLevel;
  setLevel(level: LogLevel): void;
  /** Writes the counts that are still pending, for the end of the process. */
  flush(): void;
}

export type LoggerOptions = {
  readonly service: string;
  readonly version: string;
  readonly level: LogLevel;
  /** Standard output by default. Tests replace it. */
  readonly stream?: DestinationStream;
};

/** JSON lines on standard output: time, level, service, version, msg, trace_id, and the given fields. */
export function logger(options: LoggerOptions): RootLogger {
  const sink = pino(
    {
      level: 'debug',
      base: { service: options.service, version: options.version },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }), log: shown },
      // The formatter has made every error plain already. The library's own serializer would add to it.
      serializers: { err: (plain) => plain },
      mixin: () => {
        const span = trace.getActiveSpan();
        return span === undefined ? {} : { trace_id: span.spanContext().traceId };
      },
    },
    options.stream ?? pino.destination({ fd: 1, sync: false }),
  );
  const gate = { level: options.level };
  const counts = lineCounts();
  return {
    ...facade(sink, gate, counts),
    get level() {
      return gate.level;
    },
    setLevel: (level) => {
      gate.level = level;
    },
    flush: () => {
      counts.close();
      sink.flush();
    },
  };
}

type Sink = pino.Logger<never, boolean>;
type Gate = { level: LogLevel };

function facade(sink: Sink, gate: Gate, counts: LineCounts): Logger {
  const line =
    (level: LogLevel) =>
    (fields: object, message: string): void => {
      if (WEIGHT[level] < WEIGHT[gate.level]) return;
      if (counts.pass(sink, level, fields, message)) sink[level](fields, message);
    };
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => facade(sink.child(shown(fields)), gate, counts),
  };
}

interface LineCounts {
  /**
   * Returns false if there were too many in this second. When the second is over, the last of them is written with the
   * count. Every request calls it, so a line that is not written costs only a lookup.
   */
  pass(sink: Sink, level: LogLevel, fields: object, message: string): boolean;
  close(): void;
}

function lineCounts(): LineCounts {
  type Count = { lines: number; sink: Sink; fields: object };
  const counts = { debug: newCounts(), info: newCounts(), warn: newCounts(), error: newCounts() };
  function newCounts() {
    return new Map<string, Count>();
  }
  let counted = 0;
  let timer: NodeJS.Timeout | undefined;
  const close = (): void => {
    clearTimeout(timer);
    timer = undefined;
    counted = 0;
    for (const level of LEVELS) {
      const over = [...counts[level]];
      counts[level].clear();
      for (const [message, { lines, sink, fields }] of over) {
        const repeated = lines - EQUAL_LINES_PER_SECOND;
        if (repeated > 0) sink[level]({ ...fields, repeated }, message);
      }
    }
  };
  return {
    pass: (sink, level, fields, message) => {
      timer ??= setTimeout(close, WINDOW_MS).unref();
      const count = counts[level].get(message);
      if (count === undefined) {
        if (counted++ < COUNTED_LINES_MAX) counts[level].set(message, { lines: 1, sink, fields });
        return true;
      }
      count.lines += 1;
      count.sink = sink;
      count.fields = fields;
      return count.lines <= EQUAL_LINES_PER_SECOND;
    },
    close,
  };
}

/**
 * A second protection in addition to the rule that secrets are never logged: a field with one of these names is not
 * printed, whatever its value.
 */
const HIDDEN = /password|secret|token|authorization|cookie|credential|api_?key|^body$|^e?mail$/i;

function shown(fields: object): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof Error) out[name] = publicError(value);
    else out[name] = HIDDEN.test(name) && typeof value !== 'number' ? '[redacted]' : value;
  }
  const condition = sqlConditionOf(out['code']);
  if (condition !== undefined) out['condition'] = condition;
  return out;
}

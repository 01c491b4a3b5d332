/** Limits of appends: their sizes, the commands that wait for a stream, and the changes of one stream by one caller. */
import { type Clock, expiringCache } from '@cardea/runtime';
import type { Decided } from '../command.ts';
import { type DomainEvent, WriteContention } from '../event-store.ts';
import type { Task } from '../grounds.ts';

export const CHANGES_MAX = 1000;
const CHANGES_WINDOW_MS = 3_600_000;
const COUNTERS_MAX = 10_000;

/** The caller has changed the stream too often. Nothing was decided or stored. Answered with 429 `rate_limited`. */
export class TooManyChanges extends Error {
  override readonly name = 'TooManyChanges';
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super('a caller has changed one stream too often');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

type AnyTask = Pick<Task<unknown, DomainEvent, string>, 'streamId' | 'command'> & {
  readonly stream: { readonly stateCarrying?: boolean };
};

type AnyDecided = Pick<
  Decided<unknown, DomainEvent, string>,
  'events' | 'position' | 'repeated' | 'revision'
>;

export type ChangeLimit = {
  /** Throws {@link TooManyChanges}. */
  check(task: AnyTask): void;
  /** Counts an append to a stream that existed before. */
  changed(task: AnyTask, decided: AnyDecided): void;
};

/**
 * Limits how often one caller may change one stream by requests. A stream that stores its state stays cheap to read,
 * however long it is; this limits how fast a caller makes it longer. Each process counts separately.
 *
 * It counts appends of authenticated callers, per caller, so no caller uses up another's allowance. The service's own
 * appends, and streams whose every event contains the whole state, are not counted.
 */
export function changeLimit(log: string, clock: Pick<Clock, 'monotonicMs'>): ChangeLimit {
  type Counter = { count: number; readonly endsMs: number };
  const counters = expiringCache<string, Counter>(clock, {
    entriesMax: COUNTERS_MAX,
    ttlMs: CHANGES_WINDOW_MS,
  });
  const keyOf = ({ stream, streamId, command: { metadata } }: AnyTask): string | undefined => {
    const { actor, requestId } = metadata;
    const isByService = actor.type === 'system' && actor.id === log;
    if (stream.stateCarrying || requestId === undefined || isByService) return undefined;
    return `${streamId} ${actor.type} ${actor.id}`;
  };
  return {
    check: (task) => {
      const key = keyOf(task);
      const counter = key === undefined ? undefined : counters.get(key);
      if (counter === undefined || counter.count < CHANGES_MAX) return;
      const leftMs = counter.endsMs - clock.monotonicMs();
      throw new TooManyChanges(Math.max(1, Math.ceil(leftMs / 1000)));
    },
    changed: (task, { position, repeated, revision, events: { length: events } }) => {
      const isAppended = position !== undefined && !repeated && revision > events;
      const key = isAppended ? keyOf(task) : undefined;
      if (key === undefined) return;
      const counter = counters.get(key);
      if (counter !== undefined) counter.count += events;
      else {
        const endsMs = clock.monotonicMs() + CHANGES_WINDOW_MS;
        counters.set(key, { count: events, endsMs });
      }
    },
  };
}

/** The most commands that may wait for one stream in one process. More are refused with `write_contention`. */
const WAITING_MAX = 256;

/** Runs one piece of work per name at a time, in order of arrival. */
export function turns(waitingMax: number = WAITING_MAX) {
  const lines = new Map<string, { length: number; tail: Promise<unknown> }>();

  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(name) ?? { length: 0, tail: Promise.resolve() };
    if (line.length > waitingMax) throw new WriteContention(`too many commands wait for ${name}`);
    lines.set(name, line);
    line.length++;
    const mine = line.tail.then(work).finally(() => {
      line.length--;
      if (line.length === 0) lines.delete(name);
    });
    line.tail = mine.catch(() => {}); // The caller gets the error. The next piece of work runs anyway.
    return mine;
  };
}

/** The most events of one append. More would be a bug. */
const APPEND_EVENTS_MAX = 1000;

/** Throws RangeError for an append beyond the limits of all stores or of this one. */
export function checkSizes(
  appends: readonly { readonly events: { readonly length: number }; readonly bytes: number }[],
  bytesMax: number,
): void {
  for (const append of appends) {
    if (append.events.length > APPEND_EVENTS_MAX) {
      throw new RangeError(`an append carries ${APPEND_EVENTS_MAX} events at most`);
    }
    if (append.bytes > bytesMax) {
      throw new RangeError(`an append carries ${bytesMax} bytes at most`);
    }
  }
}

/**
 * Records refusals of known callers. A response waits for its record, but at most a quarter of a second. Up
 * to `REFUSALS_PER_MINUTE` refusals of a caller are recorded one by one in a minute. Further ones are counted by kind,
 * and each kind is recorded once, with its count, when the minute is over.
 */
import type { Clock, Logger } from '@cardea/runtime';

export const REFUSAL_WAIT_MS = 250;
/** The limit per caller. Further refusals are counted. */
export const REFUSALS_PER_MINUTE = 60;
const CALLERS_MAX = 10_000;
const KINDS_PER_CALLER_MAX = 256;
const MINUTE_MS = 60_000;

export type Refused<R> = { readonly refusal: R; readonly caller: string; readonly kind: string };
type Counted<R> = { readonly refusal: R; readonly kind: string; readonly count: number };
type Minute<R> = {
  readonly startMs: number;
  recorded: number;
  readonly counted: Map<string, Counted<R>>;
};

/** Records refusals of one kind with bounded memory and at a bounded rate. */
export interface RefusalsPerMinute<R> {
  /**
   * Resolves when the refusal was recorded or counted, or after {@link REFUSAL_WAIT_MS}. Never throws, because the
   * response is sent anyway.
   */
  record(refused: Refused<R>): Promise<void>;
  /** Records the counted refusals of minutes that are over, or all of them when the process stops. */
  flush(all?: boolean): Promise<void>;
}

export function refusalsPerMinute<R>(needs: {
  readonly clock: Clock;
  readonly log: Logger;
  /** `count` is more than 1 if refusals were counted together. `refusal` is then the last of them. */
  readonly write: (refusal: R, count: number) => Promise<void>;
}): RefusalsPerMinute<R> {
  const { clock, log } = needs;
  const minutes = new Map<string, Minute<R>>();

  const write = async ({ refusal, kind, count }: Counted<R>): Promise<void> => {
    try {
      await needs.write(refusal, count);
    } catch (error) {
      const name = error instanceof Error ? error.name : 'unknown';
      log.warn({ kind, count, error: name }, 'a refusal was not recorded');
    }
  };
  const close = async (caller: string, minute: Minute<R>): Promise<void> => {
    minutes.delete(caller);
    for (const counted of minute.counted.values()) await write(counted);
  };
  const minuteOf = (caller: string): Minute<R> => {
    const nowMs = clock.monotonicMs();
    const current = minutes.get(caller);
    if (current !== undefined && nowMs - current.startMs < MINUTE_MS) return current;
    const [oldest] = minutes;
    if (current !== undefined) void close(caller, current);
    else if (oldest !== undefined && minutes.size >= CALLERS_MAX) void close(...oldest);
    const fresh: Minute<R> = { startMs: nowMs, recorded: 0, counted: new Map() };
    minutes.set(caller, fresh);
    return fresh;
  };
  return {
    record: async ({ refusal, caller, kind }) => {
      const minute = minuteOf(caller);
      minute.recorded += 1;
      if (minute.recorded > REFUSALS_PER_MINUTE) return countIn(minute, refusal, kind);
      const waiting = new AbortController();
      const written = write({ refusal, kind, count: 1 }).finally(() => waiting.abort());
      await Promise.race([written, clock.sleep(REFUSAL_WAIT_MS, waiting.signal)]);
    },
    flush: async (all = false) => {
      const over = clock.monotonicMs() - MINUTE_MS;
      for (const [caller, minute] of [...minutes]) {
        if (all || minute.startMs <= over) await close(caller, minute);
      }
    },
  };
}

function countIn<R>({ counted }: Minute<R>, refusal: R, kind: string): void {
  const count = (counted.get(kind)?.count ?? 0) + 1;
  if (count > 1 || counted.size < KINDS_PER_CALLER_MAX) counted.set(kind, { refusal, kind, count });
}

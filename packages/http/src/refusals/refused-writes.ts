import { type Clock, sqlConditionOf } from '@cardea/runtime';
import { errorAndCauses } from './error-causes.ts';

/** Writes that the database's server refuses to everybody: its disk is full, or it is read-only. */
export type RefusedWrites = {
  /** Is called with the error of each request that failed. */
  heard(error: unknown): void;
  /** PostgreSQL's name of the condition; undefined when no write was refused lately. */
  reason(): string | undefined;
};

/** SQLSTATEs of such a server; a checked-out connection or a lock may be refused to one request alone. */
const REFUSES_ALL: ReadonlySet<unknown> = new Set(['53100', '25006']);
/**
 * How long a refusal counts. No write tells beforehand whether the next one will be taken, for a small row may
 * still find room, so the process tries again with real requests after this.
 */
const COUNTS_MS = 30_000;

export function refusedWrites(clock: Pick<Clock, 'monotonicMs'>): RefusedWrites {
  let latest: { readonly condition: string; readonly atMs: number } | undefined;
  return {
    heard: (thrown) => {
      for (const error of errorAndCauses(thrown)) {
        const { code } = error as { code?: unknown };
        const condition = REFUSES_ALL.has(code) ? sqlConditionOf(code) : undefined;
        if (condition !== undefined) latest = { condition, atMs: clock.monotonicMs() };
      }
    },
    reason: () =>
      latest !== undefined && clock.monotonicMs() - latest.atMs <= COUNTS_MS
        ? latest.condition
        : undefined,
  };
}

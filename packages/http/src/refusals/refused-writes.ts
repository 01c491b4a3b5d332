import { type Clock, sqlConditionOf } from '@cardea/runtime';
import { errorAndCauses } from './error-causes.ts';

/** Tracks whether the database server refuses writes to everybody because its disk is full or it is read-only. */
export type RefusedWrites = {
  /** Called with the error of each request that failed. */
  heard(error: unknown): void;
  /** PostgreSQL's name of the condition. Undefined when no write was refused recently. */
  reason(): string | undefined;
};

/** SQLSTATEs of such a server. Other refusals, such as one because of a lock, may concern only one request. */
const REFUSES_ALL: ReadonlySet<unknown> = new Set(['53100', '25006']);
/**
 * How long a refusal counts. No check can tell whether the next write will be accepted, because a small row may still
 * find room. So after this time the process tries again with real requests.
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

import type { Clock } from '../ports.ts';

/**
 * How long to pause so that all loops that pause for `ms` wake together: an idle process then wakes once for all its
 * loops. The result is more than half of `ms` and never longer, because readiness checks how long ago a loop ran.
 */
export const sharedRestMs = (clock: Pick<Clock, 'monotonicMs'>, ms: number): number =>
  ms - (clock.monotonicMs() % (ms / 2));

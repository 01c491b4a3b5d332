import type { Clock } from '../ports.ts';

/**
 * How long to rest so that all that rest for `ms` end together: a process with nothing to do then wakes for all
 * its loops at once. More than half of `ms`, and never longer: readiness counts how long ago a loop turned.
 */
export const sharedRestMs = (clock: Pick<Clock, 'monotonicMs'>, ms: number): number =>
  ms - (clock.monotonicMs() % (ms / 2));

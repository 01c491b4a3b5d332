import type { Clock } from './ports.ts';

/** A rest that would be shorter lasts until the next end. */
const SHORTEST_SHARE = 0.1;

/**
 * How long to rest so that all that rest for `ms` end together: a process with nothing to do then wakes
 * once for all its loops. From a tenth of `ms` to a tenth more than it.
 */
export const sharedRestMs = (clock: Pick<Clock, 'monotonicMs'>, ms: number): number => {
  const leftMs = ms - (clock.monotonicMs() % ms);
  return leftMs < ms * SHORTEST_SHARE ? leftMs + ms : leftMs;
};

import type { Clock, Loops } from '../ports.ts';

/** The loops of this process, for readiness and metrics. `lastTickMs` is monotonic time. */
export function loops(clock: Clock): Loops {
  type Watched = { name: string; lastTickMs: number; degraded: string | undefined };
  const watched = new Set<Watched>();
  return {
    watch: (name) => {
      const loop: Watched = { name, lastTickMs: clock.monotonicMs(), degraded: undefined };
      watched.add(loop);
      return {
        tick: () => {
          loop.lastTickMs = clock.monotonicMs();
        },
        degraded: (reason) => {
          loop.degraded = reason;
        },
        stop: () => {
          watched.delete(loop);
        },
      };
    },
    state: () => [...watched].map((loop) => ({ ...loop })),
  };
}

/**
 * How long to pause so that all loops that pause for `ms` wake together: an idle process then wakes once for all its
 * loops. The result is more than half of `ms` and never longer, because readiness checks how long ago a loop ran.
 */
export const sharedRestMs = (clock: Pick<Clock, 'monotonicMs'>, ms: number): number =>
  ms - (clock.monotonicMs() % (ms / 2));

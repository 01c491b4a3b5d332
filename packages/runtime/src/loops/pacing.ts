import type { Clock } from '../ports.ts';

/**
 * A batch that follows another closely waits, so that it takes along what happens meanwhile. An event waits
 * twice at most before its audit row is there, in its relay and in the ingest: together well below 100 ms.
 */
const BATCH_EVERY_MS = 30;

/**
 * Spaces the batches of one loop: the first after a rest starts at once, each further one
 * `BATCH_EVERY_MS` after the last one began. So the cost per event falls as the rate rises.
 */
export type Pacing = {
  /** Resolves when the next batch may begin, or when the signal aborts. */
  next(signal?: AbortSignal): Promise<void>;
};

export const pacing = (clock: Pick<Clock, 'monotonicMs' | 'sleep'>): Pacing => {
  let beganMs = Number.NEGATIVE_INFINITY;
  return {
    next: async (signal) => {
      const waitMs = beganMs + BATCH_EVERY_MS - clock.monotonicMs();
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      beganMs = clock.monotonicMs();
    },
  };
};
